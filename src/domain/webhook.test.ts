import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isGivenUp, nextAttemptMs, RETRY_AFTER_MS, retryAfterMs, TRIED_FOR_MS } from './webhook.ts';

const HOUR_MS = 3_600_000;
const NOW_MS = Date.UTC(2026, 1, 18, 9, 30);

/** The times of all attempts of a delivery that always fails at once, since its creation. */
function attemptsOf(jitter: number): number[] {
  const times = [0];
  for (let tries = 1; tries < 100; tries += 1) {
    const dueMs = nextAttemptMs({ tries, begunAtMs: 0, nowMs: times.at(-1) ?? 0, jitter });
    if (dueMs === undefined) return times;
    times.push(dueMs);
  }
  throw new Error('It never ends.');
}

describe('the schedule of a delivery', () => {
  it('waits 5 s, 1 min, 5 min, 30 min, 2 h, 5 h, 10 h, then 12 h again and again, for three days', () => {
    const times = attemptsOf(1);
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    assert.deepEqual(waits.slice(0, 8), [...RETRY_AFTER_MS]);
    assert.ok(waits.slice(8, -1).every((wait) => wait === 12 * HOUR_MS));
    assert.equal(times.at(-1), TRIED_FOR_MS, 'with a last attempt at the end');
  });

  it('ends after three days and a bounded number of attempts, whatever the jitter', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.8, max: 1.2, noNaN: true }), (jitter) => {
        const times = attemptsOf(jitter);
        assert.ok(times.length >= 12 && times.length <= 16, String(times.length));
        assert.equal(times.at(-1), TRIED_FOR_MS);
      }),
    );
  });

  it('waits as long as the receiver asks for, up to an hour, and never less than by itself', () => {
    const next = (asked: number) => nextAttemptMs({ tries: 1, begunAtMs: 0, nowMs: 0, retryAfterMs: asked, jitter: 1 });
    assert.equal(next(1_000), 5_000);
    assert.equal(next(90_000), 90_000);
    assert.equal(next(10 * HOUR_MS), HOUR_MS);
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((tries) =>
      nextAttemptMs({ tries, begunAtMs: 0, nowMs: 0, jitter: 1 }),
    );
    const minute = HOUR_MS / 60;
    assert.deepEqual(waits, [
      ...[5_000, minute, 5 * minute, 30 * minute, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 12 * HOUR_MS, 12 * HOUR_MS],
    ]);
  });
});

describe('Retry-After', () => {
  it('is a number of seconds or a date; anything else is ignored', () => {
    assert.equal(retryAfterMs('120', NOW_MS), 120_000);
    assert.equal(retryAfterMs('Wed, 18 Feb 2026 09:31:00 GMT', NOW_MS), 60_000);
    assert.equal(retryAfterMs('Wed, 18 Feb 2026 09:00:00 GMT', NOW_MS), 0);
    assert.equal(retryAfterMs('7', NOW_MS), 7_000);
    assert.equal(retryAfterMs('9'.repeat(9), NOW_MS), 999_999_999_000);
    const date = 'Wed, 18 Feb 2026 09:31:00 GMT';
    const wrong = [undefined, '', '-1', '1.5', '1e9', 'soon', '2026-02-18', '9'.repeat(10), '9'.repeat(30)];
    for (const text of [...wrong, ` ${date}`, `${date} `, `${date}+1`]) {
      assert.equal(retryAfterMs(text, NOW_MS), undefined, text);
    }
  });
});

describe('an endpoint', () => {
  it('is given up when the last attempt of its first failed delivery fails', () => {
    const firstFailureMs = NOW_MS + 20_000;
    assert.ok(isGivenUp(firstFailureMs, NOW_MS + TRIED_FOR_MS));
    assert.ok(!isGivenUp(firstFailureMs, NOW_MS + TRIED_FOR_MS - 2 * HOUR_MS));
    assert.equal(TRIED_FOR_MS, 72 * HOUR_MS);
    assert.deepEqual(
      [71 * HOUR_MS - 1, 71 * HOUR_MS].map((ms) => isGivenUp(NOW_MS, NOW_MS + ms)),
      [false, true],
    );
  });
});
