import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualTime } from '../../test/manual-time.ts';
import { createPace } from './watch-pace.ts';

/** A network with blocks every two seconds, and how long it has been left alone. */
function start({ isInUse = false, blockTimeMs = 2_000 } = {}) {
  const time = manualTime();
  const state = { isInUse, asked: 0, isOver: false, wake: () => {} };
  const pace = createPace({
    world: time,
    blockTimeMs,
    isInUse: async () => {
      state.asked += 1;
      return state.isInUse;
    },
    nap: (ms) =>
      new Promise((resolve) => {
        const cancel = time.timers.after(ms, resolve);
        state.wake = () => {
          cancel();
          resolve();
        };
      }),
  });
  const rest = () => {
    state.isOver = false;
    void pace(new AbortController().signal).then(() => {
      state.isOver = true;
    });
  };
  return { time, state, rest };
}

describe('the pace of watching', () => {
  it('is twenty reads per block with open items', async () => {
    const { time, state, rest } = start({ isInUse: true });
    for (let round = 0; round < 3; round += 1) {
      rest();
      await time.advance(99);
      assert.equal(state.isOver, false);
      await time.advance(1);
      assert.equal(state.isOver, true);
    }
  });

  it('has bounds on very fast and very slow chains', async () => {
    for (const [blockTimeMs, roundMs] of [
      [200, 50],
      [60_000, 1_000],
    ] as const) {
      const { time, state, rest } = start({ isInUse: true, blockTimeMs });
      rest();
      await time.advance(roundMs - 1);
      assert.equal(state.isOver, false);
      await time.advance(1);
      assert.equal(state.isOver, true);
    }
  });

  it('is half a block without open items', async () => {
    const { time, state, rest } = start();
    rest();
    await time.advance(100);
    await time.advance(899);
    assert.equal(state.isOver, false);
    await time.advance(1);
    await time.advance(100);
    assert.equal(state.isOver, true);
  });

  it('quickens with the news of a payment on this network', async () => {
    const { time, state, rest } = start({ blockTimeMs: 12_000 });
    rest();
    await time.advance(600);
    state.isInUse = true;
    state.wake();
    await time.advance(0);
    await time.advance(600);
    assert.equal(state.isOver, true);
  });

  it('does not quicken with news of other networks, which are looked into no more often than in use', async () => {
    const { time, state, rest } = start({ blockTimeMs: 12_000 });
    rest();
    for (let news = 0; news < 40; news += 1) {
      state.wake();
      await time.advance(100);
    }
    assert.equal(state.isOver, false);
    assert.ok(state.asked <= 7, `${state.asked}`);
  });
});
