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

  it('has limits that are round in the unit in which a time of that length is read', () => {
    const stepOf = (limitS: number) =>
      [[12, 2] as const, [60, 5] as const, [180, 10] as const, [600, 60] as const, [3_600, 300] as const].find(
        ([upToS]) => limitS <= upToS,
      )?.[1] ?? 3_600;
    for (const limitS of TIME_LIMITS_S.slice(0, -1)) assert.equal(limitS % stepOf(limitS), 0, `${limitS}`);
  });

  it('has a last limit that no time exceeds, and that PostgreSQL stores as an integer', () => {
    assert.equal(TIME_LIMITS_S.at(-1), 2 ** 31 - 1);
  });
});
