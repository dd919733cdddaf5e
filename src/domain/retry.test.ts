import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextTryMs } from './retry.ts';

const TRY = { waitsMs: [100, 200, 400], tries: 1, nowMs: 1_000, untilMs: 10_000, jitter: 1 };
const next = (change: Partial<Parameters<typeof nextTryMs>[0]> = {}) => nextTryMs({ ...TRY, ...change });

describe('the next try', () => {
  it('comes after the wait of its number, and the last wait is repeated', () => {
    assert.deepEqual(
      [1, 2, 3, 4, 9].map((tries) => next({ tries })),
      [1_100, 1_200, 1_400, 1_400, 1_400],
    );
  });

  it('is spread by the jitter', () => {
    assert.deepEqual([next({ jitter: 0.8 }), next({ jitter: 1.2 })], [1_080, 1_120]);
  });

  it('waits at least as long as the other side asked for', () => {
    assert.deepEqual([next({ leastMs: 50 }), next({ leastMs: 700 })], [1_100, 1_700]);
    assert.equal(next({ waitsMs: [] }), 1_000, 'there are no waits');
    assert.equal(next({ waitsMs: [0] }), 1_000);
  });

  it('is the last one at the end, and then there is none', () => {
    assert.deepEqual([next({ nowMs: 9_950 }), next({ nowMs: 9_999 })], [10_000, 10_000]);
    assert.deepEqual([next({ nowMs: 10_000 }), next({ nowMs: 10_001 })], [undefined, undefined]);
  });
});
