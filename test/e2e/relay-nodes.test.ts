import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { NO_SCREENING } from '../../src/screening/screening.ts';
import type { WorkerDeps } from '../../src/workers/loop.ts';
import { startRelaying } from '../../src/workers/relaying.ts';
import { startWatching } from '../../src/workers/watching.ts';
import { REGISTRY } from '../registry.ts';
import { until } from '../until.ts';
import { openRelayScene, type RelayScene } from './relay-scene.ts';

/** Whole nodes with their loops, on one database and one chain that mines by itself. */
describe('nodes that relay and watch', () => {
  let scene: RelayScene;
  const stops: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
    await scene.close();
  });

  function startNode() {
    const deps: WorkerDeps = {
      registry: REGISTRY,
      db: scene.db,
      world: systemWorld,
      log: scene.log,
      metrics: createMetrics(),
    };
    const { chains, feed, movePayment } = scene;
    const parts = [
      startRelaying({ ...deps, rowKeys: scene.rowKeys, chains, feed }),
      startWatching({
        ...deps,
        rowKeys: scene.rowKeys,
        subjectKeys: scene.subjectKeys,
        chains,
        feed,
        movePayment,
        screening: NO_SCREENING,
      }),
    ];
    const stop = () => Promise.all(parts.map((stopPart) => stopPart()));
    stops.push(stop);
    return { ...deps, stop };
  }
  const open = async () => {
    scene = await openRelayScene({ isRealTime: true });
    scene.control.setAutoMining(true);
  };
  const succeeds = (id: string, withinMs = 5_000) =>
    until('the payment succeeds', async () => (await scene.status(id)) === 'succeeded', { withinMs });

  it('pay accepted items without a wake-up', async () => {
    await open();
    startNode();
    const { id } = await scene.accept();
    await succeeds(id);
  });

  it('take over from a node that stops', async () => {
    await open();
    const first = startNode();
    await succeeds((await scene.accept()).id);
    const second = startNode();
    await first.stop();
    await succeeds((await scene.accept()).id);
    assert.match(await second.metrics.registry.metrics(), /till_sends_total\{network="eip155:31337",why="first"\} 1/);
  });

  it('share one signer without a nonce used twice', async () => {
    await open();
    startNode();
    startNode();
    const payments = [];
    for (let made = 0; made < 10; made += 1) payments.push(await scene.accept());
    for (const { id } of payments) await succeeds(id);
    const items = await scene.db.sql`select commitment from send_items`;
    assert.equal(items.length, 10);
  });

  it('live through a chain that is away for a while', async () => {
    await open();
    startNode();
    await succeeds((await scene.accept()).id);
    let calls = 0;
    scene.control.goDown('minedNonce', 'simulate', 'block');
    scene.control.intercept(() => {
      calls += 1;
    });
    const { id } = await scene.accept();
    await until('it is tried', () => calls > 10);
    assert.equal(await scene.status(id), 'processing');
    scene.control.comeBack();
    await succeeds(id, 10_000);
  });

  it('stop within moments', async () => {
    await open();
    const node = startNode();
    await succeeds((await scene.accept()).id);
    const startedAt = performance.now();
    await node.stop();
    assert.ok(performance.now() - startedAt < 2_000);
    const held = await scene.db.sql`select from leases where until > ${new Date()}`;
    assert.equal(held.length, 0);
  });
});
