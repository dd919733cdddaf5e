import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { REGISTRY } from '../../test/registry.ts';
import { until } from '../../test/until.ts';
import { command } from '../actions/command.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { systemWorld } from '../runtime/system-world.ts';
import type { World } from '../runtime/world.ts';
import { openEventFeed } from '../store/events/event-feed.ts';
import { appendEvents, readEvents } from '../store/events/events.ts';
import { insertMerchant, lockMerchant } from '../store/parties/merchants.ts';
import { insertPartner } from '../store/parties/partners.ts';
import { type Database, openDatabase } from '../store/plumbing/database.ts';
import { startPlacing } from './placing.ts';

const AT = new Date(Date.UTC(2026, 2, 1));
const MERCHANT = 'mrch_one';
const FOREVER_MS = 10 * 60_000;
/** The placer never looks by itself: what it places was rung for. */
const DEAF: World = {
  ...systemWorld,
  // With some jitter: only the placer's look takes 1,000 ms to the millisecond.
  random: { bytes: (count) => new Uint8Array(count).fill(8) },
  timers: {
    ...systemWorld.timers,
    sleep: (ms, signal) => systemWorld.timers.sleep(ms === 1_000 ? FOREVER_MS : ms, signal),
  },
};

describe('the placer', () => {
  let database: TestDatabase;
  const closing: (() => Promise<void>)[] = [];
  before(async () => {
    database = await createTestDatabase();
    const db = open();
    await command({ registry: REGISTRY, db, world: systemWorld }, async (tx) => {
      const partner = { id: 'prtn_one', name: 'x', pinnedVersion: '2026-02-18', frameOrigins: [] } as const;
      await insertPartner(tx, { ...partner, createdAt: AT });
      const owner = { partnerId: 'prtn_one', mode: 'test' } as const;
      const merchant = { ...owner, id: MERCHANT, name: 'x', email: null, status: 'active', iconUrl: null } as const;
      await insertMerchant(tx, { ...merchant, createdAt: AT, updatedAt: AT });
    });
    await db.close();
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  after(() => database.drop());

  const open = () => openDatabase({ url: database.url, poolSize: 4, applicationName: 'till-test' });
  /** A node with its connections, and the news it hears. */
  async function newNode() {
    const db = open();
    const log = pino({ level: 'silent' });
    const feed = await openEventFeed({ db, world: systemWorld, log });
    const received: string[] = [];
    feed.subscribe((ids) => void received.push(...(ids ?? [])));
    closing.push(() => db.close());
    return {
      registry: REGISTRY,
      db,
      received,
      place(world: World = DEAF) {
        const stop = startPlacing({ registry: REGISTRY, db, world, log, feed, metrics: createMetrics() });
        closing.push(stop);
        return stop;
      },
    };
  }
  /** A change of an object nobody else changes; its id. */
  let changes = 0;
  async function change(db: Database): Promise<string> {
    changes += 1;
    const objectId = `object_${changes}`;
    await command({ registry: REGISTRY, db, world: systemWorld }, async (tx) => {
      await lockMerchant(tx, MERCHANT);
      const event = { type: 'merchant.updated', merchantId: MERCHANT, at: AT, actor: 'test', data: {} } as const;
      await appendEvents(tx, [{ ...event, objectId }]);
    });
    return objectId;
  }
  const isPlaced = async (db: Database, id: string) =>
    (await readEvents(db.sql, { after: 0, limit: 1_000 })).some(({ objectId }) => objectId === id);
  const receives = ({ received }: { received: readonly string[] }, id: string) =>
    until(`${id} is heard of`, () => received.includes(id));
  const isLed = (db: Database) =>
    until('somebody places', async () => {
      const rows = await db.sql`select from leases where name = 'events' and until > now()`;
      return rows.length === 1;
    });

  it('places the events of its own node, and notifies every node', async () => {
    const [one, two] = [await newNode(), await newNode()];
    one.place();
    await isLed(one.db);
    for (let count = 0; count < 3; count += 1) {
      const id = await change(one.db);
      await Promise.all([receives(one, id), receives(two, id)]);
      assert.ok(await isPlaced(two.db, id), 'it is placed when it is heard of');
    }
  });

  it('is rung for by a node that does not place', async () => {
    const [one, two] = [await newNode(), await newNode()];
    one.place();
    await isLed(one.db);
    const ids = await Promise.all(Array.from({ length: 20 }, () => change(two.db)));
    for (const id of ids) await Promise.all([receives(one, id), receives(two, id)]);
  });

  it('finds events whose notification was lost', async () => {
    const one = await newNode();
    one.place(systemWorld);
    await isLed(one.db);
    const other = open();
    closing.push(() => other.close());
    await receives(one, await change(other));
  });

  it('places events that were committed while no placer ran', async () => {
    const one = await newNode();
    const id = await change(one.db);
    assert.ok(!(await isPlaced(one.db, id)));
    one.place();
    await receives(one, id);
  });

  it('works on another node when its own stops, from where it was', async () => {
    const [one, two] = [await newNode(), await newNode()];
    const stop = one.place();
    await isLed(one.db);
    await receives(two, await change(one.db));
    two.place();
    await stop();
    const id = await change(one.db);
    await receives(two, id);
    const positions = (await readEvents(two.db.sql, { after: 0, limit: 1_000 })).map(({ position }) => position);
    assert.deepEqual(
      positions,
      positions.map((_, index) => index + 1),
    );
  });
});
