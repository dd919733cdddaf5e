import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFollowedClock } from './followed-clock.ts';

/** Two clocks: ours, which is off, and the one that it follows. */
function openScene(oursAheadMs: number) {
  let trueMs = Date.UTC(2026, 2, 1);
  let aheadMs = oursAheadMs;
  const ours = { nowMs: () => trueMs + aheadMs };
  const clock = createFollowedClock(ours);
  return {
    error: () => clock.nowMs() - trueMs,
    set(ms: number) {
      aheadMs += ms;
    },
    /** Asks the other clock; both ways take time. */
    read({ thereMs = 1, backMs = 1 } = {}) {
      const askedAtMs = ours.nowMs();
      trueMs += thereMs;
      const theirMs = trueMs;
      trueMs += backMs;
      clock.take({ askedAtMs, answeredAtMs: ours.nowMs(), theirMs });
      trueMs += 500;
    },
  };
}

describe('a clock that follows another', () => {
  it('shows its own time until the first reading, and the time of the other from then on', () => {
    const scene = openScene(120_000);
    assert.equal(scene.error(), 120_000);
    scene.read();
    assert.equal(scene.error(), 0);
  });

  it('goes by the quickest answer: a slow one may be wrong by half of its way', () => {
    const scene = openScene(-3_000);
    scene.read({ thereMs: 900, backMs: 0 });
    assert.equal(scene.error(), 450);
    scene.read({ thereMs: 2, backMs: 0 });
    assert.ok(Math.abs(scene.error()) <= 1);
    for (let count = 0; count < 10; count += 1) scene.read({ thereMs: 900, backMs: 0 });
    assert.ok(Math.abs(scene.error()) <= 1);
  });

  it('never goes back for a small difference, and makes it up little by little', () => {
    const scene = openScene(0);
    for (let count = 0; count < 20; count += 1) scene.read();
    scene.set(400);
    let last = scene.error();
    for (let count = 0; count < 120; count += 1) {
      scene.read();
      // 502 ms have passed between two readings.
      assert.ok(scene.error() - last > -502);
      last = scene.error();
    }
    assert.ok(Math.abs(last) <= 2, `${last} ms are left`);
  });

  it('takes one step when a clock was set, forward or back', () => {
    for (const ms of [3_600_000, -3_600_000]) {
      const scene = openScene(0);
      for (let count = 0; count < 20; count += 1) scene.read();
      scene.set(ms);
      scene.read();
      assert.equal(scene.error(), 0);
    }
  });
});
