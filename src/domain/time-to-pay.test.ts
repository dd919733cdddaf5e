import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TIME_LIMITS_S, timeOfShare } from './time-to-pay.ts';

describe('the time to pay', () => {
  it('is the limit that a share of the payments stays within', () => {
    const counts = [
      { withinS: 60, payments: 1 },
      { withinS: 10, payments: 5 },
      { withinS: 20, payments: 4 },
    ];
    assert.equal(timeOfShare(counts, 0.5), 10);
    assert.equal(timeOfShare(counts, 0.51), 20);
    assert.equal(timeOfShare(counts, 0.9), 20);
    assert.equal(timeOfShare(counts, 1), 60);
    assert.equal(timeOfShare([], 0.5), null);
    assert.equal(timeOfShare([{ withinS: 10, payments: 0 }], 0.5), null);
  });

  it('has limits in order', () => {
    assert.deepEqual(
      TIME_LIMITS_S.toSorted((a, b) => a - b),
      TIME_LIMITS_S,
    );
  });
});
