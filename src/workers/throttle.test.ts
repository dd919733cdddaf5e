import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPaymentWork } from '../runtime/payment-work.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { createThrottle } from './throttle.ts';

describe('deliveries beside payments', () => {
  /** A node whose event loop is active for this share of the time, with or without work for payments. */
  function createScene() {
    let nowMs = 0;
    let busyMs = 0;
    const scene = { share: 0, isThere: false, hasWaited: false };
    const world = { ...systemWorld, clock: { nowMs: () => nowMs }, busyMs: () => busyMs };
    const throttle = createThrottle({
      world,
      paymentWork: {
        ...createPaymentWork(world.clock),
        isThere: () => scene.isThere,
        hasWaited: () => scene.hasWaited,
      },
    });
    return {
      scene,
      throttle,
      /** Attempts as many deliveries as it may, for a time. Returns their number; infinite without a limit. */
      run(forMs: number): number {
        let attempted = 0;
        for (const endMs = nowMs + forMs; nowMs < endMs; ) {
          if (throttle.waitMs() === 0) {
            const allowed = throttle.allowance();
            attempted += allowed;
            throttle.use(Number.isFinite(allowed) ? allowed : 10);
          }
          nowMs += 10;
          busyMs += 10 * scene.share;
        }
        return attempted;
      },
      /** No delivery is due for a time. */
      rest(forMs: number): void {
        for (const endMs = nowMs + forMs; nowMs < endMs; nowMs += 50) throttle.allowance();
      },
    };
  }

  it('are not limited on a node without payments, however busy it is', () => {
    const { scene, run } = createScene();
    Object.assign(scene, { share: 1, isThere: false });
    assert.equal(run(1_000), Number.POSITIVE_INFINITY);
  });

  it('are not limited by payments that leave the node time', () => {
    const { scene, run } = createScene();
    Object.assign(scene, { share: 0.5, isThere: true });
    assert.equal(run(1_000), Number.POSITIVE_INFINITY);
  });

  for (const [name, state, perSecond] of [
    ['while payments wait for the database', { share: 0.1, hasWaited: true }, 64],
    ['on a full node whose payments do not wait', { share: 0.95, isThere: true }, 256],
  ] as const) {
    it(`are few ${name}, and never none`, () => {
      const { scene, run, throttle } = createScene();
      Object.assign(scene, state);
      run(2_000);
      assert.equal(throttle.isBusy(), scene.hasWaited);
      const attempted = run(10_000);
      assert.ok(Math.abs(attempted - 10 * perSecond) <= perSecond, `${attempted} in ten seconds`);
    });
  }

  it('become more on a full node when its payments no longer wait', () => {
    const { scene, run } = createScene();
    Object.assign(scene, { share: 0.95, isThere: true, hasWaited: true });
    run(2_000);
    scene.hasWaited = false;
    run(500);
    const attempted = run(1_000);
    assert.ok(attempted > 200 && attempted < 300, `${attempted} in a second`);
  });

  it('begin slowly after a pause: the first payments may be a flood', () => {
    const { run, rest } = createScene();
    assert.equal(run(1_000), Number.POSITIVE_INFINITY);
    rest(200);
    const attempted = run(100);
    assert.ok(attempted >= 16 && attempted <= 100, `${attempted} in a tenth of a second`);
    assert.equal(run(1_000), Number.POSITIVE_INFINITY);
  });

  it('leave a part of the event loop to payments, and use the rest', () => {
    const { scene, run, throttle } = createScene();
    Object.assign(scene, { isThere: true });
    let attempted = 0;
    // 1,600 deliveries a second would fill the event loop.
    for (let window = 0; window < 200; window += 1) {
      const some = Math.min(run(100), 160);
      scene.share = some / 160;
      attempted += some;
    }
    assert.ok(attempted > 200 * 160 * 0.3 && attempted < 200 * 160 * 0.8, `${attempted} in twenty seconds`);
    assert.ok(throttle.allowance() >= 0);
  });

  it('are no longer limited soon after the node was busy', () => {
    const { scene, run } = createScene();
    Object.assign(scene, { share: 0.95, isThere: true });
    run(5_000);
    scene.share = 0.1;
    run(1_000);
    assert.equal(run(100), Number.POSITIVE_INFINITY);
  });
});
