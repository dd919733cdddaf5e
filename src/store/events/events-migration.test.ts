import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { connectTo, createEmptyDatabase, type TestConnection, type TestDatabase } from '../../../test/database.ts';
import { REGISTRY } from '../../../test/registry.ts';
import { createPaymentMover } from '../../actions/paying/payment-mover.ts';
import { isId, newId, refundIdOf } from '../../domain/ids.ts';
import { withRecordedFacts } from '../../domain/payment-facts.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { findPayments } from '../payments/payments.ts';
import { type Database, openDatabase } from '../plumbing/database.ts';
import { migrate } from '../plumbing/migrate.ts';
import { listEvents, type PlacedEvent, readEvents } from './events.ts';

const FOLDER = join(import.meta.dirname, '../../../migrations');
const START_MS = Date.UTC(2026, 1, 1);
const USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const BUYER = 'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const HASH = `0x${'ab'.repeat(32)}`;
const at = (seconds: number) => new Date(START_MS + seconds * 1000);
const id = (n: number) => newId('pay_', START_MS + n * 1000, new Uint8Array(10).fill(n % 251));

/** A payment as the version before stored it: its row, and `[event, to, at]` for each of its moves. */
interface OldPayment {
  readonly id: string;
  readonly merchant: string;
  readonly moves: readonly (readonly [event: string, to: string, atS: number])[];
}

const NEW: OldPayment = { id: id(1), merchant: 'mrch_one', moves: [] };
const CANCELLED: OldPayment = { id: id(2), merchant: 'mrch_one', moves: [['cancelled', 'cancelled', 5]] };
const PAID: OldPayment = {
  id: id(3),
  merchant: 'mrch_one',
  moves: [
    ['confirmed', 'processing', 10],
    // The clock of the watcher's node was behind.
    ['succeeded', 'succeeded', 8],
    ['reorged', 'succeeded', 20],
  ],
};
const EXPIRED: OldPayment = { id: id(4), merchant: 'mrch_two', moves: [['expired', 'expired', 301]] };
const OPEN: OldPayment = { id: id(5), merchant: 'mrch_two', moves: [['confirmed', 'processing', 7]] };
const FAILED: OldPayment = {
  id: id(6),
  merchant: 'mrch_two',
  moves: [
    ['confirmed', 'processing', 7],
    ['failed', 'failed', 9],
  ],
};
const OLD = [NEW, CANCELLED, PAID, EXPIRED, OPEN, FAILED];
/** More than a batch can have. */
const MANY = 2_500;

describe('the migration to one table of events', () => {
  let own: TestDatabase;
  let db: Database;
  let events: PlacedEvent[];
  before(async () => {
    own = await createEmptyDatabase();
    await makeOldDatabase(own.url);
    await migrate({ log: pino({ level: 'silent' }) }, own.url);
    db = openDatabase({ url: own.url, poolSize: 4, applicationName: 'till-test' });
    events = await readEvents(db.sql, { after: 0, limit: 100_000 });
  });
  after(async () => {
    await db.close();
    await own.drop();
  });
  const eventsOf = async (objectId: string) =>
    (await listEvents(db.sql, objectId)).map(({ sequence, type, at: when, actor }) => [
      sequence,
      type,
      (when.getTime() - START_MS) / 1000,
      actor,
    ]);

  it('gives every payment its creation and its moves', async () => {
    assert.deepEqual(await eventsOf(NEW.id), [[1, 'payment.created', 1, 'unknown']]);
    assert.deepEqual(await eventsOf(CANCELLED.id), [
      [1, 'payment.created', 2, 'unknown'],
      [2, 'payment.cancelled', 5, 'actor 1'],
    ]);
    assert.deepEqual(await eventsOf(PAID.id), [
      [1, 'payment.created', 3, 'unknown'],
      [2, 'payment.processing', 10, 'actor 1'],
      [3, 'payment.succeeded', 8, 'actor 2'],
      [4, 'payment.reorged', 20, 'actor 3'],
    ]);
    const types = async (objectId: string) => (await listEvents(db.sql, objectId)).map(({ type }) => type).slice(1);
    assert.deepEqual(await types(EXPIRED.id), ['payment.expired']);
    assert.deepEqual(await types(FAILED.id), ['payment.processing', 'payment.failed']);
  });

  it('gives every refund its moves', async () => {
    assert.deepEqual(await eventsOf(refundIdOf(PAID.id, 1)), [
      [1, 'refund.created', 30, 'key:1'],
      [2, 'refund.processing', 31, 'payer-out'],
      [3, 'refund.processing', 32, 'payer-out'],
      [4, 'refund.succeeded', 33, 'watcher'],
    ]);
  });

  it('keeps the evidence, and the facts of each payment as they are', async () => {
    const [, , succeeded] = await listEvents(db.sql, PAID.id);
    assert.deepEqual(succeeded?.evidence, { proof: 2 });
    assert.deepEqual(succeeded?.data.settlement, {
      asset: USDC,
      amount: '990',
      recipient: '0x1',
      transactionHash: HASH,
      at: '2026-02-01T00:00:08+00:00',
    });
    for (const payment of await findPayments(
      db.sql,
      [NEW, CANCELLED, PAID, EXPIRED, OPEN, FAILED].map(({ id }) => id),
    )) {
      assert.ok(payment);
      const last = (await listEvents(db.sql, payment.id)).at(-1);
      assert.deepEqual(withRecordedFacts(payment, last?.data ?? {}), payment);
    }
  });

  it('gives positions without gaps, in the order of time and of sequences, whatever clocks said', async () => {
    assert.deepEqual(
      events.map(({ position }) => position),
      events.map((_, index) => index + 1),
    );
    assert.equal(events.length, MANY + 6 + 8 + 4);
    const last = new Map<string, number>();
    for (const { objectId, sequence } of events) {
      assert.equal(sequence, (last.get(objectId) ?? 0) + 1, objectId);
      last.set(objectId, sequence);
    }
    const [first] = events.filter(({ partnerId }) => partnerId === 'prtn_one');
    assert.equal(first?.objectId, NEW.id);
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
    for (const { id } of events) assert.ok(isId('evt_', id), id);
  });

  it('lets old payments go on', async () => {
    const move = createPaymentMover({ registry: REGISTRY, db, world: systemWorld, rowKeys: [new Uint8Array(32)] });
    const token = { asset: USDC, value: 5_000_000n };
    const buyer = { account: BUYER, name: 'Wallet', icon: null };
    const event = { type: 'succeeded', buyer, token, transaction: { hash: HASH, nonce: 1 } } as const;
    const outcome = await move({ paymentId: OPEN.id, event, actor: 'watcher', evidence: {} });
    assert.ok(outcome.ok);
    const sequences = (await listEvents(db.sql, OPEN.id)).map(({ sequence, type }) => [sequence, type]);
    assert.deepEqual(sequences.at(-1), [3, 'payment.succeeded']);
    const [waiting] = await db.sql<{ batch: string }[]>`select batch from outbox`;
    const [placed] = await db.sql<{ last: string }[]>`select max(batch) as last from event_batches`;
    assert.ok(Number(waiting?.batch) > Number(placed?.last), 'batches go on from the last one');
  });

  it('leaves nothing of the old tables', async () => {
    const [row] = await db.sql`
      select to_regclass('payment_events') as payments, to_regclass('refund_events') as refunds`;
    assert.deepEqual({ ...row }, { payments: null, refunds: null });
  });
});

/** The schema of the version before, with payments, their histories and a refund. */
async function makeOldDatabase(url: string): Promise<void> {
  const sql = connectTo(url);
  try {
    await sql`create table migrations (id integer primary key, name text not null, sha256 text not null,
      applied_at timestamptz not null default now())`;
    for (const [index, name] of readdirSync(FOLDER).sort().slice(0, 7).entries()) {
      const text = readFileSync(join(FOLDER, name), 'utf8');
      await sql.unsafe(text);
      const sha256 = createHash('sha256').update(text).digest('hex');
      await sql`insert into migrations (id, name, sha256) values (${index + 1}, ${name}, ${sha256})`;
    }
    for (const name of ['one', 'two']) {
      await sql`insert into partners (id, name, pinned_version, created_at)
        values (${`prtn_${name}`}, ${name}, '2026-02-18', ${at(0)})`;
      await sql`insert into merchants (id, partner_id, mode, name, status, created_at, updated_at)
        values (${`mrch_${name}`}, ${`prtn_${name}`}, 'test', ${name}, 'active', ${at(0)}, ${at(0)})`;
    }
    for (const payment of OLD) await insertOld(sql, payment);
    await insertRefund(sql);
    await sql`
      insert into payments (id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value, amount_decimals,
        created_at, updated_at, expires_at)
      select 'pay_01KGC6JZ' || lpad(n::text, 18, '0'), 'prtn_two', 'test', 'mrch_two', 'x', 'iso4217/USD', 1, 2,
        ${at(100)}::timestamptz + n * interval '1 ms', ${at(100)}::timestamptz + n * interval '1 ms', ${at(1e6)}
      from generate_series(1, ${MANY}::int) n`;
  } finally {
    await sql.end();
  }
}

async function insertOld(sql: TestConnection, { id, merchant, moves }: OldPayment): Promise<void> {
  const [, status = 'requires_action'] = moves.at(-1) ?? [];
  const hasBuyer = moves.some(([event]) => event === 'confirmed');
  const isPaid = status === 'succeeded';
  const created = at(OLD.findIndex((each) => each.id === id) + 1);
  // A note did not touch the time of the last change, and an expiry is the end of a payment that expired.
  const expires = at(300);
  const lastMove = moves.filter(([event]) => event !== 'reorged').at(-1);
  const updated = status === 'expired' ? expires : lastMove === undefined ? created : at(lastMove[2]);
  await sql`
    insert into payments (id, partner_id, mode, merchant_id, reference_id, amount_unit, amount_value, amount_decimals,
      status, version, created_at, updated_at, expires_at, token_asset, token_value, buyer_account, buyer_name,
      failure_code, transaction_hash, transaction_nonce)
    values (${id}, ${merchant.replace('mrch', 'prtn')}, 'test', ${merchant}, 'x', 'iso4217/USD', 1, 2, ${status},
      ${moves.length}, ${created}, ${updated}, ${expires}, ${hasBuyer ? USDC : null}, ${hasBuyer ? '1000' : null},
      ${hasBuyer ? BUYER : null}, ${hasBuyer ? 'Wallet' : null}, ${status === 'failed' ? 'declined_user' : null},
      ${isPaid ? HASH : null}, ${isPaid ? 7 : null})`;
  let from = 'requires_action';
  for (const [index, [event, to, atS]] of moves.entries()) {
    const version = index + 1;
    await sql`
      insert into payment_events (payment_id, version, at, from_status, to_status, event, actor, evidence)
      values (${id}, ${version}, ${at(atS)}, ${from}, ${to}, ${event}, ${`actor ${version}`},
        ${sql.json({ proof: version })})`;
    from = to;
  }
}

async function insertRefund(sql: TestConnection): Promise<void> {
  const refundId = refundIdOf(PAID.id, 1);
  await sql`insert into payment_settlements values (${PAID.id}, ${USDC}, 990, '0x1', ${HASH}, ${at(8)})`;
  await sql`
    insert into refunds (id, payment_id, merchant_id, network, asset, method, recipient, amount, state, version,
      from_held, from_merchant, from_operator, account, transaction_hash, requested_at, updated_at)
    values (${refundId}, ${PAID.id}, 'mrch_one', 'eip155:8453', ${USDC}, 'eip3009-vrs', '0x2', 1000, 'refunded', 3,
      0, 990, 10, '0x3', ${HASH}, ${at(30)}, ${at(33)})`;
  for (const [version, from, to, event, actor] of [
    [0, null, 'requested', 'requested', 'key:1'],
    [1, 'requested', 'awaiting_funds', 'short', 'payer-out'],
    [2, 'awaiting_funds', 'sending', 'covered', 'payer-out'],
    [3, 'sending', 'refunded', 'paid', 'watcher'],
  ] as const) {
    await sql`
      insert into refund_events (refund_id, version, at, from_state, to_state, event, actor, evidence)
      values (${refundId}, ${version}, ${at(30 + version)}, ${from}, ${to}, ${event}, ${actor}, '{}')`;
  }
}
