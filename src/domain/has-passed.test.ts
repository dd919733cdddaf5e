import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasPassed } from './has-passed.ts';

describe('a time', () => {
  it('has passed after so many milliseconds, and when the clock was set back by as many', () => {
    assert.deepEqual(
      [1_099, 1_100, 901, 900, -5_000].map((nowMs) => hasPassed(1_000, nowMs, 100)),
      [false, true, false, true, true],
    );
  });
});
