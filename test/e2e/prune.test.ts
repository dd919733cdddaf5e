import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { command } from '../../src/actions/command.ts';
import { countOld, pruneOld } from '../../src/actions/oversight/prune.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

const DAY_MS = 86_400_000;

/** What of a table's rows may change. Every other table must stay as it is. */
const CHANGED: Readonly<Record<string, string>> = {
  relay_versions: "to_jsonb(t) - 'bytes'",
  audit_log: "case when t.action = 'database.pruned' then null else to_jsonb(t) end",
  chain_events: "case when t.type = 'refused' then null else to_jsonb(t) end",
};

describe('a gateway whose old rows are pruned', () => {
  let scene: RefundScene;
  let node: TestNode;
  beforeEach(async () => {
    scene = await openRefundScene({ witnesses: 2 });
    node = await scene.newNode();
    await scene.live(node, 1);
    await scene.fill(node, OPERATOR_FLOAT, 50n);
    await scene.fill(node, scene.merchantId, 5_000n);
    const { id } = await scene.paid(node);
    await scene.request(id);
    await scene.live(node);
    await scene.paid(node, { isHeld: true });
    await refusedEvents(7);
    scene.pass(100 * DAY_MS);
  });
  afterEach(() => scene.close());

  /** Events of failed items, as contracts emit them. */
  const refusedEvents = (count: number) =>
    command(
      scene,
      (tx, now) => tx`
      insert into chain_events (network, transaction_hash, log_index, block_number, block_hash, commitment, type, fields, decided_at)
      select ${scene.network}, '0xdead' || n, 0, n, '0x', '0x' || n, 'refused', '{}', ${now}::timestamptz
      from generate_series(1, ${count}::int) n`,
    );
  const before = () => new Date(scene.nowMs() - 90 * DAY_MS);
  const prune = () => pruneOld(scene, { before: before(), actor: 'operator:ann' });

  /** Every row of every table, but for the parts that may go. */
  async function everything(): Promise<Readonly<Record<string, string>>> {
    const tables = await scene.db.sql<{ name: string }[]>`
      select tablename as name from pg_tables where schemaname = 'public' order by 1`;
    const read = tables.map(async ({ name }) => {
      const row = CHANGED[name] ?? 'to_jsonb(t)';
      const [found] = await scene.db.sql.unsafe<{ rows: string }[]>(
        `select coalesce(string_agg(r::text, ';' order by r::text), '') as rows from (select ${row} as r from ${name} t) x`,
      );
      return [name, found?.rows ?? ''] as const;
    });
    return Object.fromEntries(await Promise.all(read));
  }
  const left = async () => {
    const [row] = await scene.db.sql<{ bytes: number; refused: number }[]>`
      select (select count(*)::int from relay_versions where bytes <> '') as bytes,
        (select count(*)::int from chain_events where type = 'refused') as refused`;
    return row;
  };

  it('has the same payments, lists, statistics, receipts, books and histories afterwards', async () => {
    const rows = await everything();
    const counted = await countOld(scene.db.sql, before());
    assert.deepEqual(await everything(), rows, 'counting changes nothing');
    const pruned = await prune();
    assert.deepEqual(
      pruned.map(({ what, rows: gone }) => [what, gone]),
      counted.map(({ what, rows: old }) => [what, old]),
      'as much goes as was counted',
    );
    assert.ok(pruned.every(({ rows: gone }) => gone > 0));
    assert.deepEqual(await left(), { bytes: 0, refused: 0 });
    assert.deepEqual(await everything(), rows);
    assert.deepEqual((await reconcile(scene, scene.connected, { from: 0 }))?.differences, []);
    assert.deepEqual(
      (await prune()).map(({ rows: gone }) => gone),
      [0, 0],
      'a second run finds nothing',
    );
  });

  it('keeps what is younger, and what is not final: that may have to be broadcast again', async () => {
    await prune();
    scene.control.mine();
    const { id, commitment } = await scene.accept();
    scene.control.broadcasts('lost');
    await node.relay();
    assert.equal((await scene.item(commitment))?.state, 'sent');
    await refusedEventsNow();
    await prune();
    assert.deepEqual(await left(), { bytes: 1, refused: 1 });
    scene.pass(100 * DAY_MS);
    await pruneOld(scene, { before: new Date(scene.nowMs()), actor: 'test' });
    assert.equal((await left())?.bytes, 1, 'however old it is');
    assert.equal(await scene.status(id), 'processing');
  });
  const refusedEventsNow = () => refusedEvents(1);

  it('keeps the bytes of a slot that was stuck for long and became final only now', async () => {
    await prune();
    const stuck = new Date(scene.nowMs() - 100 * DAY_MS);
    scene.control.mine();
    await scene.paid(node);
    await command(
      scene,
      (tx, now) => tx`
      update relay_sends set created_at = ${stuck} where created_at > ${now}::timestamptz - interval '1 day' and state = 'final'`,
    );
    assert.equal((await countOld(scene.db.sql, before()))[0]?.rows, 0);
    await prune();
    assert.equal((await left())?.bytes, 1, 'after a deep reorganisation it must be broadcast again');
    scene.pass(100 * DAY_MS);
    await prune();
    assert.equal((await left())?.bytes, 0);
  });

  it('that dies between two pages goes on at the next run', async () => {
    const dying = { ...scene, world: { ...scene.world, timers: { ...scene.world.timers, sleep: die } } };
    await refusedMany();
    await assert.rejects(pruneOld(dying, { before: before(), actor: 'test' }), /dies between two pages/);
    const rows = await everything();
    await prune();
    assert.deepEqual(await left(), { bytes: 0, refused: 0 });
    assert.deepEqual(await everything(), rows);
  });
  const refusedMany = () =>
    command(
      scene,
      (tx) => tx`
      insert into chain_events (network, transaction_hash, log_index, block_number, block_hash, commitment, type, fields, decided_at)
      select ${scene.network}, '0xbeef' || n, 0, n, '0x', '0x' || n, 'refused', '{}', ${new Date(0)}::timestamptz
      from generate_series(1, 1200) n`,
    );
  const die = () => Promise.reject(new Error('The process dies between two pages.'));

  it('writes what went to the audit log', async () => {
    await prune();
    const [row] = await scene.db.sql<{ actor: string; detail: { rows: Readonly<Record<string, number>> } }[]>`
      select actor, detail from audit_log where action = 'database.pruned'`;
    assert.equal(row?.actor, 'operator:ann');
    assert.equal(row?.detail.rows['refused events of the chain'], 7);
  });
});
