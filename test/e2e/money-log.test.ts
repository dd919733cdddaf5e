import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { command } from '../../src/actions/command.ts';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import { type EntryKind, entry, OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { EVENT_TYPES, type EventType } from '../../src/domain/event.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { LINE_FIELDS, MONEY_LINES, type MoneyLine } from '../../src/domain/money-line.ts';
import { appendEvents } from '../../src/store/events/events.ts';
import { insertEntries } from '../../src/store/money/books.ts';
import { appendAudit } from '../../src/store/plumbing/audit-log.ts';
import { type Reader, savepoint, type Tx } from '../../src/store/plumbing/database.ts';
import { createTestMerchant, createTestPartner, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { openRefundScene, type RefundScene } from './refund-scene.ts';

const NAMES = new Set<string>(MONEY_LINES.map(([name]) => name));
const AT = new Date('2026-11-18T09:30:41.250Z');
const ASSET = 'eip155:31337/erc20:0x0000000000000000000000000000000000000001';

describe('the log of money', () => {
  let gateway: TestGateway;
  let merchant: { id: string };
  let headers: Record<string, string>;
  let logged: (MoneyLine & { level: string; msg: string })[] = [];
  before(async () => {
    const sink = { write: (line: string) => void logged.push(JSON.parse(line)) };
    const log = pino({ level: 'info', base: undefined, formatters: { level: (level) => ({ level }) } }, sink);
    gateway = await startTestGateway({ log });
    const partner = await createTestPartner(gateway);
    merchant = await createTestMerchant(gateway, partner.headers);
    headers = { ...partner.headers, 'merchant-id': merchant.id };
  });
  after(() => gateway?.stop());

  /** The lines of the work, with their level and message. */
  async function linesOf(work: () => Promise<unknown>) {
    logged = [];
    await work();
    return logged.filter(({ money }) => money !== undefined);
  }
  const written = (work: (tx: Tx) => Promise<void>) => linesOf(() => command(gateway, work));

  const event = (type: EventType) => ({
    type,
    objectId: `${EVENT_TYPES[type].object}_1`,
    merchantId: merchant.id,
    at: AT,
    actor: 'watcher',
    data: { network: 'eip155:31337', tokenAsset: ASSET, tokenValue: '5', buyerAccount: 'eip155:31337:0xPayer' },
    evidence: { transaction: '0x12', move: 'vetoed' },
  });
  const booked = (kind: string) =>
    entry(
      kind as EntryKind,
      { network: 'eip155:31337', asset: ASSET, subject: 'pay_1', reference: '0x1', merchantId: merchant.id },
      [
        { account: 'payer', units: -7n },
        { account: 'fees', units: 2n },
        { account: 'outside', units: 5n },
      ],
      { transaction: '0x12', block: 3 },
    );

  for (const [name] of MONEY_LINES) {
    it(`has one line for ${name}`, async () => {
      const lines = await written((tx) => {
        if (name.startsWith('books.')) return insertEntries(tx, [booked(name.slice('books.'.length))], AT);
        if (name in EVENT_TYPES) return appendEvents(tx, [event(name as EventType)]);
        return appendAudit(tx, {
          at: AT,
          actor: 'operator',
          action: name,
          subject: 'payouts',
          detail: { reason: 'text' },
        });
      });
      assert.equal(lines.length, 1);
      const [{ level, msg, time: _, ...line }] = lines as [(typeof lines)[0] & { time: string }];
      assert.deepEqual([level, msg, line.money, line.at], ['info', 'money', name, AT.toISOString()]);
      assert.ok(Object.keys(line).every((field) => field in LINE_FIELDS));
      assert.doesNotMatch(JSON.stringify(line), /Payer|text/);
      if (name.startsWith('books.')) assert.equal(line.amount, '7');
      if (name in EVENT_TYPES) assert.deepEqual([line.amount, line.transaction, line.step], ['5', '0x12', 'vetoed']);
    });
  }

  it('has no line for other events, entries and actions', async () => {
    const others = (Object.keys(EVENT_TYPES) as EventType[]).filter((type) => !NAMES.has(type));
    assert.ok(others.includes('payment.created'));
    const lines = await written(async (tx) => {
      await appendEvents(tx, others.map(event));
      await insertEntries(tx, [booked('gas'), booked('paid')], AT);
      await appendAudit(tx, { at: AT, actor: 'operator', action: 'key.issued', subject: 'key_1', detail: {} });
    });
    assert.deepEqual(lines, []);
  });

  it('has no line for what was rolled back', async () => {
    const failing = () =>
      command(gateway, async (tx) => {
        await appendEvents(tx, [event('payout.begun')]);
        throw new Error('rolled back');
      });
    assert.deepEqual(await linesOf(() => assert.rejects(failing)), []);
    const kept = await written(async (tx) => {
      await appendEvents(tx, [event('payout.paid')]);
      const undone = savepoint(tx, async (inner) => {
        await appendEvents(inner, [event('payout.failed')]);
        throw new Error('undone');
      });
      await assert.rejects(undone);
      await insertEntries(tx, [booked('swept')], AT);
    });
    assert.deepEqual(
      kept.map(({ money }) => money),
      ['payout.paid', 'books.swept'],
    );
  });

  it('shows a payment that is cancelled, and nothing of its creation', async () => {
    const lines = await linesOf(async () => {
      const key = { 'idempotency-key': freshKey() };
      const payload = { referenceId: 'order 1', amount: { unit: 'iso4217/USD', value: '500' } };
      const post = { method: 'POST' as const, headers: { ...headers, ...key } };
      const made = await gateway.call({ ...post, url: '/v1/payments', payload });
      const id = made.json().paymentId;
      const ended = await gateway.call({ ...post, url: `/v1/payments/${id}/cancel`, headers });
      assert.equal(ended.statusCode, 200, ended.body);
    });
    assert.deepEqual(
      lines.map(({ money, merchantId }) => [money, merchantId]),
      [['payment.cancelled', merchant.id]],
    );
  });
});

describe('the log of money, of real payments and refunds', () => {
  let scene: RefundScene;
  before(async () => {
    scene = await openRefundScene();
  });
  after(() => scene.close());

  /** Name and subject of every row of the journals that is a decision about money. */
  async function journals(db: Reader): Promise<string[]> {
    const rows = await db<{ name: string; subject: string }[]>`
      select type as name, object_id as subject from events
      union all select 'books.' || kind, subject from book_entries
      union all select action, subject from audit_log`;
    return rows.flatMap(({ name, subject }) => (NAMES.has(name) ? [`${name} ${subject}`] : []));
  }

  it('has a line for each row of the journals, and no other, and no account of a payer', async () => {
    const lines: MoneyLine[] = [];
    const node = await scene.newNode();
    const before = await journals(scene.db.sql);
    scene.db.onMoney((found) => void lines.push(...found));
    const { id, payer } = await scene.paid(node, { isHeld: true });
    await freeze(scene, { scope: 'payouts', subject: '', reason: 'a test', actor: 'operator' });
    await scene.fill(node, OPERATOR_FLOAT, 25n);
    await scene.request(id);
    await scene.live(node);
    await unfreeze(scene, { scope: 'payouts', subject: '', reason: 'over', actor: 'operator' });
    assert.equal((await scene.refund(id)).state, 'refunded');

    const own = lines.map(({ money, subject }) => `${money} ${subject}`).toSorted();
    const rows = (await journals(scene.db.sql)).toSorted();
    for (const row of before) rows.splice(rows.indexOf(row), 1);
    assert.deepEqual(own, rows);
    for (const expected of [
      `payment.processing ${id}`,
      `payment.succeeded ${id}`,
      `refund.created ${refundIdOf(id, 1)}`,
      `refund.succeeded ${refundIdOf(id, 1)}`,
      'freeze.set payouts',
      'freeze.lifted payouts',
    ]) {
      assert.ok(own.includes(expected), `${expected}\n${own.join('\n')}`);
    }
    assert.doesNotMatch(JSON.stringify(lines), new RegExp(payer.address, 'i'));
  });
});
