import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { IS_LONG } from '../../../test/long.ts';
import { REGISTRY } from '../../../test/registry.ts';
import { until } from '../../../test/until.ts';
import { command, commandOfOne } from '../../actions/command.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { insertMerchant, lockMerchant } from '../parties/merchants.ts';
import { insertPartner } from '../parties/partners.ts';
import { type Database, openDatabase } from '../plumbing/database.ts';
import { type Lease, takeLease } from '../plumbing/leases.ts';
import type { Draft } from '../plumbing/single-statement.ts';
import { appendEvents, type PlacedEvent, readEvents } from './events.ts';
import { placeEvents } from './placing.ts';
import { findWalPosition } from './wal-position.ts';

const AT = new Date(Date.UTC(2026, 2, 1));
const PARTNERS = ['prtn_one', 'prtn_two'];
/** The objects of the test; the first two have one partner, the others another one. */
const OBJECTS = ['mrch_a', 'mrch_b', 'mrch_c', 'mrch_d'];
const MAX_WRITERS = 6;

describe('the outbox', () => {
  let database: TestDatabase;
  let db: Database;
  let leases = 0;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase({ url: database.url, poolSize: MAX_WRITERS + 4, applicationName: 'till-test' });
    await command(deps(), async (tx) => {
      for (const id of PARTNERS) {
        await insertPartner(tx, { id, name: id, pinnedVersion: '2026-02-18', frameOrigins: [], createdAt: AT });
      }
      for (const [index, id] of OBJECTS.entries()) {
        const owner = { partnerId: PARTNERS[index < 2 ? 0 : 1] ?? '', mode: 'test' } as const;
        const merchant = { ...owner, id, name: id, email: null, status: 'active', iconUrl: null } as const;
        await insertMerchant(tx, { ...merchant, createdAt: AT, updatedAt: AT });
      }
    });
  });
  after(async () => {
    await db.close();
    await database.drop();
  });
  const clear = () =>
    command(deps(), async (tx) => {
      await tx.unsafe('set local session_replication_role = replica');
      for (const table of ['events', 'event_batches', 'outbox']) await tx.unsafe(`delete from ${table}`);
    });
  beforeEach(clear);
  const deps = () => ({ registry: REGISTRY, db, world: systemWorld });

  /** The lease of a new holder: nobody asks the one before. */
  async function takeOver(): Promise<Lease> {
    leases += 1;
    const ask = { name: 'events', holder: String(leases), now: new Date(Date.UTC(2100, 0, 1)), until: AT };
    const lease = await command(deps(), (tx) => takeLease(tx, ask));
    assert.ok(lease);
    return lease;
  }
  const place = (lease: Lease, limit = 100) => commandOfOne(deps(), () => placeEvents(lease, { limit }));

  it('notes how far the log was, so that a replica that has replayed it has the events of the partner', async () => {
    const [owner, other] = PARTNERS.map((partnerId) => ({ partnerId, mode: 'test' as const }));
    assert.ok(owner && other);
    const present = async () => {
      const [row] = await db.sql<{ lsn: string }[]>`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as lsn`;
      return BigInt(row?.lsn ?? '0');
    };
    const lease = await takeOver();
    assert.equal(await findWalPosition(db.sql, owner), 0n, 'a partner without events needs nothing');
    await changed(['mrch_a']);
    const committed = await present();
    assert.ok((await findWalPosition(db.sql, owner)) >= committed, 'an event without a position needs everything');
    assert.equal(await findWalPosition(db.sql, other), 0n, 'other partners need nothing of it');
    await commandOfOne(deps(), () => placeEvents(lease, { limit: 100, notesWal: true }));
    const noted = await findWalPosition(db.sql, owner);
    assert.ok(noted >= committed, 'the commit is before the noted position');
    await changed(['mrch_c']);
    assert.equal(await findWalPosition(db.sql, owner), noted, 'events of others change nothing');
    await changed(['mrch_a']);
    await place(lease);
    const later = await present();
    assert.ok((await findWalPosition(db.sql, owner)) >= later, 'a batch without a note needs everything');
  });

  it('notes of another log, which a restore brought along, need no more than the whole log', async () => {
    const [partnerId = ''] = PARTNERS;
    await command(deps(), async (tx) => {
      await tx`insert into event_batches (position, batch, partner_id, mode, size, wal)
        values (1, 1, ${partnerId}, 'test', 1, 'FFFFFFFF/0')`;
    });
    const [row] = await db.sql<{ least: string }[]>`select pg_wal_lsn_diff('FFFFFFFF/0', '0/0')::text as least`;
    assert.ok((await findWalPosition(db.sql, { partnerId, mode: 'test' })) < BigInt(row?.least ?? '0'));
  });

  const changed = (objects: readonly string[]) =>
    command(deps(), (tx) =>
      appendEvents(
        tx,
        objects.map((id) => ({
          type: 'merchant.updated',
          objectId: id,
          merchantId: id,
          at: AT,
          actor: 'test',
          data: {},
        })),
      ),
    );

  /** A transaction that has appended its events and waits: it commits or rolls back when it is told to. */
  function write(objects: readonly string[], mark: string) {
    let end: (isKept: boolean) => void = () => {};
    const isKept = new Promise<boolean>((resolve) => {
      end = resolve;
    });
    let isAppended = false;
    const done = db
      .begin(systemWorld.random, async (tx) => {
        for (const id of objects) await lockMerchant(tx, id);
        await appendEvents(
          tx,
          objects.map((id) => {
            const data = { mark };
            return { type: 'merchant.updated', objectId: id, merchantId: id, at: AT, actor: 'test', data } as const;
          }),
        );
        isAppended = true;
        if (!(await isKept)) throw new Error('rolled back');
      })
      .then(
        () => true,
        () => false,
      );
    return { mark, objects, done, end, isAppended: () => isAppended };
  }
  const append = async (objects: readonly string[], mark: string) => {
    const writer = write(objects, mark);
    writer.end(true);
    assert.ok(await writer.done);
  };

  /** Reads as a follower of the feed does, and checks what followers rely on. */
  function follow() {
    const seen: PlacedEvent[] = [];
    const last = new Map<string, number>();
    const read = async (limit: number) => {
      const events = await readEvents(db.sql, { after: seen.length, limit });
      for (const event of events) {
        assert.equal(event.position, seen.length + 1, 'positions have no gaps, and nothing appears behind a reader');
        assert.equal(event.sequence, (last.get(event.objectId) ?? 0) + 1, 'positions follow sequences');
        last.set(event.objectId, event.sequence);
        seen.push(event);
      }
      return events.length;
    };
    return { seen, read };
  }

  it('places committed events, whatever transactions are open and whenever they began', async () => {
    const lease = await takeOver();
    const reader = follow();
    const early = write(['mrch_a'], 'early');
    await until('the first has appended', early.isAppended);
    await append(['mrch_b', 'mrch_c'], 'late');
    assert.equal(await place(lease), 2, 'one batch for each partner');
    assert.equal(await reader.read(10), 2);
    early.end(true);
    assert.ok(await early.done);
    assert.equal(await place(lease), 1);
    assert.equal(await reader.read(10), 1);
    assert.deepEqual(
      reader.seen.map(({ objectId, partnerId, mode }) => [objectId, partnerId, mode]),
      [
        ['mrch_b', 'prtn_one', 'test'],
        ['mrch_c', 'prtn_two', 'test'],
        ['mrch_a', 'prtn_one', 'test'],
      ],
    );
  });

  it('places nothing for a holder whose lease was taken over', async () => {
    const stale = await takeOver();
    const lease = await takeOver();
    await append(['mrch_a'], 'x');
    assert.equal(await place(stale), 0);
    assert.equal(await place(lease), 1);
    assert.equal(await place(lease), 0);
  });

  it('keeps the events of a placer that dies', async () => {
    const lease = await takeOver();
    await append(['mrch_a'], 'x');
    await assert.rejects(
      db.begin(systemWorld.random, async (tx) => {
        await placeEvents(lease, { limit: 10 }).draft(tx as unknown as Draft);
        throw new Error('killed before the commit');
      }),
      /killed/,
    );
    assert.deepEqual(await readEvents(db.sql, { after: 0, limit: 10 }), []);
    assert.equal(await place(await takeOver()), 1);
    assert.equal((await readEvents(db.sql, { after: 0, limit: 10 })).length, 1);
  });

  it('places at most as many batches as it is asked to, the oldest first', async () => {
    const lease = await takeOver();
    for (const mark of ['1', '2', '3']) await append(['mrch_a'], mark);
    assert.equal(await place(lease, 2), 2);
    const marks = async () => (await readEvents(db.sql, { after: 0, limit: 10 })).map(({ data }) => data.mark);
    assert.deepEqual(await marks(), ['1', '2']);
    assert.equal(await place(lease, 2), 1);
    assert.deepEqual(await marks(), ['1', '2', '3']);
  });

  it('refuses an event of a missing merchant, with the change it describes', async () => {
    const event = { type: 'merchant.updated', objectId: 'x', merchantId: 'mrch_nobody', at: AT, actor: 'x', data: {} };
    await assert.rejects(
      command(deps(), (tx) => appendEvents(tx, [event as Parameters<typeof appendEvents>[1][number]])),
      /does not exist/,
    );
    assert.equal((await db.sql`select from events`).length + (await db.sql`select from outbox`).length, 0);
  });

  const objects = fc.uniqueArray(fc.constantFrom(...OBJECTS), { minLength: 1, maxLength: 3 }).map((ids) => ids.sort());
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('begin'), objects }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('end'), writer: fc.nat(), isKept: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('place'), limit: fc.integer({ min: 1, max: 3 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('placeStale') }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('takeOver') }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('read'), reader: fc.nat(1), limit: fc.integer({ min: 1, max: 4 }) }),
    },
  ) as fc.Arbitrary<Step>;

  it('gives every committed event one position, in an order that no reader sees change', { timeout: 600_000 }, () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 50 }), async (steps) => {
        await clear();
        const scene = openScene(await takeOver());
        for (const each of steps) await scene.take(each);
        await scene.finish();
      }),
      { numRuns: IS_LONG ? 2_000 : 60 },
    ),
  );

  function openScene(first: Lease) {
    let lease = first;
    let stale = first;
    let open: ReturnType<typeof write>[] = [];
    const readers = [follow(), follow()];
    const kept: { mark: string; objects: readonly string[] }[] = [];
    let count = 0;
    /** Until every writer has appended or waits for the lock of another one. */
    const settled = () =>
      until('writers have appended or wait', async () => {
        const waiting = await db.sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        return open.every(({ isAppended }) => isAppended()) || waiting.length > 0;
      });
    const end = async (writer: (typeof open)[number], isKept: boolean) => {
      open = open.filter((other) => other !== writer);
      writer.end(isKept);
      if (await writer.done) kept.push(writer);
    };
    return {
      async take(each: Step) {
        if (each.do === 'begin' && open.length < MAX_WRITERS) {
          count += 1;
          open.push(write(each.objects, String(count)));
          await settled();
        }
        if (each.do === 'end') {
          // A transaction that waits for a lock cannot end before the transaction that holds it.
          const ready = open.filter(({ isAppended }) => isAppended());
          const writer = ready[each.writer % ready.length];
          if (writer !== undefined) await end(writer, each.isKept);
          await settled();
        }
        if (each.do === 'place') await place(lease, each.limit);
        if (each.do === 'placeStale' && stale !== lease) assert.equal(await place(stale), 0);
        if (each.do === 'takeOver') [stale, lease] = [lease, await takeOver()];
        if (each.do === 'read') await readers[each.reader]?.read(each.limit);
      },
      async finish() {
        while (open.length > 0) {
          const ready = open.find(({ isAppended }) => isAppended());
          if (ready === undefined) await settled();
          else await end(ready, true);
        }
        while ((await place(lease, 3)) > 0) {
          // Until the outbox is empty.
        }
        for (const reader of readers) {
          while ((await reader.read(3)) > 0) {
            // Until the reader is at the end.
          }
        }
        const expected = kept.flatMap(({ mark, objects }) => objects.map((id) => `${mark} ${id}`));
        for (const { seen } of readers) {
          const changes = seen.map(({ data, objectId }) => `${data.mark} ${objectId}`);
          assert.deepEqual(changes.toSorted(), expected.toSorted(), 'every committed change has one event');
        }
        assert.deepEqual(readers[0]?.seen, readers[1]?.seen, 'all readers see the same');
        assert.equal((await db.sql`select from outbox`).length, 0);
      },
    };
  }
});

type Step =
  | { readonly do: 'begin'; readonly objects: readonly string[] }
  | { readonly do: 'end'; readonly writer: number; readonly isKept: boolean }
  | { readonly do: 'place'; readonly limit: number }
  | { readonly do: 'placeStale' | 'takeOver' }
  | { readonly do: 'read'; readonly reader: number; readonly limit: number };
