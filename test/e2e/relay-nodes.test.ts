import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { createAnnouncement } from '../../src/actions/announce-node.ts';
import { createRecordStanding } from '../../src/actions/record-standing.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { NO_SCREENING } from '../../src/screening/screening.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
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

  function startNode({ registry = REGISTRY, host = 'one' } = {}) {
    const standing = createRecordStanding();
    const deps: WorkerDeps = {
      registry,
      db: scene.db,
      world: systemWorld,
      log: scene.log,
      metrics: createMetrics(),
    };
    const { chains, feed, movePayment } = scene;
    const relaying = { ...deps, rowKeys: scene.rowKeys, secrets: scene.secrets, chains, feed, standing, host };
    const parts = [
      startRelaying(relaying),
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
    const announce = createAnnouncement({ ...deps, host, config: { roles: [] }, secrets: { ids: [] }, standing });
    return { ...deps, stop, announce, standing };
  }
  const relayLease = async () => {
    const held = await scene.db.sql<{ holder: string }[]>`
      select holder from leases where starts_with(name, 'relay ') and until > now()`;
    return [...new Set(held.map(({ holder }) => holder.split('/')[0]))].join();
  };
  const open = async () => {
    scene = await openRelayScene({ isRealTime: true });
    scene.control.setAutoMining(true);
  };
  const succeeds = (id: string, withinMs = 5_000) =>
    until('the payment succeeds', async () => (await scene.status(id)) === 'succeeded', { withinMs });

  it('send nothing with other files of networks than the node that started last', async () => {
    await open();
    const one = startNode();
    await one.announce();
    await until('the first node leads', async () => (await relayLease()) === 'one');
    const hashes = { ...REGISTRY.hashes, 'eip155:31337': 'another', 'eip155:777777': 'added' };
    const other = startNode({ registry: { ...REGISTRY, hashes }, host: 'other' });
    await other.announce();
    await one.announce();
    assert.deepEqual([one.standing.isInForce(), other.standing.isInForce()], [false, true]);
    await until('the second node leads', async () => (await relayLease()) === 'other');
    const { id } = await scene.accept();
    await succeeds(id);
    assert.equal(await relayLease(), 'other');
    const alert = (await listAlerts(scene.db.sql)).find(({ name }) => name === 'records_differ');
    assert.deepEqual(
      [alert?.subject, alert?.message],
      [
        'one',
        'The files of networks of the node one differ from those of other, which started last: eip155:31337, eip155:777777. one sends and signs nothing. Give every node the same files and the same version, and start one again.',
      ],
    );
    // The first node gets the files of the second one.
    await one.stop();
    const again = startNode({ registry: { ...REGISTRY, hashes }, host: 'one' });
    await again.announce();
    await other.announce();
    assert.deepEqual([again.standing.isInForce(), other.standing.isInForce()], [true, true]);
  });

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
    const items = await scene.db.sql`select commitment from relay_items`;
    assert.equal(items.length, 10);
  });

  it('live through a chain that is away for a while', async () => {
    await open();
    startNode();
    await succeeds((await scene.accept()).id);
    let calls = 0;
    scene.control.goDown('usedSlots', 'simulate', 'block');
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
