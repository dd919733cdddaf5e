import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { shiftClock, shiftOf, unshifted, unshiftedWorld } from './shifted-clock.ts';
import { systemWorld } from './system-world.ts';

describe('a shifted clock', () => {
  it('is ahead by as much as it is told at that moment, and the clock behind it is not', () => {
    let aheadMs = 0;
    const base = { nowMs: () => 1_000 };
    const clock = shiftClock(base, () => aheadMs);
    assert.equal(clock.nowMs(), 1_000);
    aheadMs = 500;
    assert.equal(clock.nowMs(), 1_500);
    assert.equal(unshifted(clock).nowMs(), 1_000);
    assert.equal(shiftOf(clock), 500);
    assert.equal(unshiftedWorld({ ...systemWorld, clock }).clock.nowMs(), 1_000);
  });

  it('is the only clock where nothing is shifted', () => {
    assert.equal(unshifted(systemWorld.clock), systemWorld.clock);
    assert.equal(shiftOf(systemWorld.clock), 0);
  });
});
