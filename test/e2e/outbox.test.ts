import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { addFiatSettlement, removeFiatSettlement } from '../../src/actions/parties/keep-fiat.ts';
import { notePayments } from '../../src/actions/paying/note-payments.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { EVENT_TYPES } from '../../src/domain/event.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { eventBodies, findSubjects } from '../../src/http/event-bodies.ts';
import { viewDetails } from '../../src/http/views/payment.ts';
import { listEvents, readEvents } from '../../src/store/events/events.ts';
import { findRefundsOf } from '../../src/store/money/refunds.ts';
import { findPaymentDetails } from '../../src/store/payments/payment-details.ts';
import { findPaymentSettlement } from '../../src/store/payments/payment-settlements.ts';
import { createTestMerchant, createTestPartner, freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { REGISTRY } from '../registry.ts';
import { until } from '../until.ts';
import { DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

const ORIGIN = { registry: REGISTRY, publicUrl: 'https://pay.example' };
const DESTINATION = 'eip155:31337:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const OTHER = 'eip155:31337:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';

describe('events of money', () => {
  let scene: RefundScene;
  let node: TestNode;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
  });
  afterEach(() => scene.close());

  const types = async (objectId: string) => (await listEvents(scene.db.sql, objectId)).map(({ type }) => type);
  /** The answer of GET now, and the payment in the body of its last event. */
  async function answers(id: string) {
    const payment = await scene.payment(id);
    const [details, settlement, refunds, bodies] = await Promise.all([
      findPaymentDetails(scene.db.sql, id),
      findPaymentSettlement(scene.db.sql, id),
      findRefundsOf(scene.db.sql, [id]),
      bodiesOf(id),
    ]);
    const now = viewDetails(ORIGIN, { payment, details, settlement, refunds, nowMs: scene.nowMs() });
    return [now, bodies.at(-1)?.data] as const;
  }
  /** The public bodies of the object's events. */
  async function bodiesOf(objectId: string) {
    const place = { position: 0, objectId, partnerId: '', mode: 'test', merchantId: null } as const;
    const events = (await listEvents(scene.db.sql, objectId)).map((event) => ({ ...event, ...place }));
    const readSubjects = () => findSubjects(scene.db.sql, events);
    return eventBodies({ config: ORIGIN, readSubjects }, events, '2026-02-18');
  }
  const showTheSame = async (id: string, expected: string) => {
    const [now, then] = await answers(id);
    assert.equal(now.status, expected);
    assert.deepEqual(then, now);
  };

  it('report a payment as GET answered: from its creation to its settlement by a payout', async () => {
    const { id } = await scene.accept({ isHeld: true });
    await showTheSame(id, 'processing');
    await node.turn(2);
    await showTheSame(id, 'succeeded');
    assert.equal((await answers(id))[0].settlement, null);
    await scene.register(scene.payers.newAccount());
    await scene.live(node);
    await showTheSame(id, 'succeeded');
    assert.notEqual((await answers(id))[0].settlement, null);
    assert.deepEqual(await types(id), [
      'payment.created',
      'payment.processing',
      'payment.succeeded',
      'payment.settled',
    ]);
    assert.deepEqual(await types(await scene.payoutIdOf(id)), ['payout.begun', 'payout.paid']);
  });

  it('report a payment as GET answered: settled by its own transfer, refunded, and reorganised', async () => {
    const { id } = await scene.paid(node);
    await showTheSame(id, 'succeeded');
    await scene.fill(node, scene.merchantId, 990n);
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.request(id);
    await scene.live(node);
    const note = { type: 'payment.reorged', actor: 'test', evidence: {} } as const;
    await command(scene, (tx, now) => notePayments(tx, [id], note, now));
    await showTheSame(id, 'succeeded');
    const [now] = await answers(id);
    assert.equal(now.refund?.status, 'refunded');
    const { merchantId } = now;
    assert.deepEqual((await bodiesOf(refundIdOf(id, 1))).at(-1)?.data, {
      ...{ id: refundIdOf(id, 1), paymentId: id, merchantId },
      ...now.refunds?.[0],
    });
    assert.deepEqual(await types(refundIdOf(id, 1)), ['refund.created', 'refund.processing', 'refund.succeeded']);
  });

  it('report a payment as GET answered: when it lapses, expires and gets money too late', async () => {
    const { id, item } = await scene.accept();
    scene.control.cancelAuthorization(item);
    await node.turn(3);
    await showTheSame(id, 'requires_action');
    const { pay } = await scene.offer(5 * 60_000, { subject: id });
    await scene.movePayment({ paymentId: id, event: { type: 'cancelled', by: 'merchant' }, actor: 'x', evidence: {} });
    await showTheSame(id, 'cancelled');
    pay();
    await node.turn(2);
    const [now, then] = await answers(id);
    const { lateMoney, ...rest } = then as unknown as { lateMoney: { reason: string; amount: { value: string } } };
    assert.deepEqual(rest, now, 'the event names the money besides');
    assert.deepEqual([lateMoney.reason, lateMoney.amount.value], ['late', '1000']);
    assert.deepEqual((await types(id)).slice(2), [
      'payment.requires_action',
      'payment.cancelled',
      'payment.late_money',
    ]);
    await node.turn(2);
    assert.equal((await types(id)).length, 5, 'once');
  });

  it('include a payout that did not arrive, and the next one', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    const destination = scene.payers.newAccount();
    scene.control.setBlacklisted(destination, DOLLAR);
    await scene.register(destination);
    await scene.live(node, 2);
    scene.pass(3_700_000);
    await scene.live(node, 2);
    await scene.redirect(scene.payers.newAccount());
    await scene.live(node);
    assert.deepEqual(await types(await scene.payoutIdOf(id)), [
      'payout.begun',
      'payout.failed',
      'payout.begun',
      'payout.paid',
    ]);
  });

  it('have sequences without gaps, and types of the catalogue', async () => {
    await scene.paid(node, { isHeld: true });
    const { id } = await scene.paid(node);
    await scene.request(id);
    await scene.live(node, 2);
    const rows = await scene.db.sql<{ objectId: string; sequences: number[]; types: string[] }[]>`
      select object_id as "objectId", json_agg(sequence order by sequence) as sequences, json_agg(type) as types
      from events group by object_id`;
    assert.ok(rows.length >= 3);
    for (const { sequences, types } of rows) {
      assert.deepEqual(
        sequences,
        sequences.map((_, index) => index + 1),
      );
      for (const type of types) assert.ok(type in EVENT_TYPES, type);
    }
  });
});

describe('events of parties', () => {
  let gateway: TestGateway;
  let partner: Awaited<ReturnType<typeof createTestPartner>>;
  before(async () => {
    gateway = await startTestGateway();
    partner = await createTestPartner(gateway);
  });
  after(() => gateway.stop());

  const eventsOf = async (objectId: string) =>
    (await listEvents(gateway.db.sql, objectId)).map(({ sequence, type, actor, data }) => ({
      sequence,
      type,
      actor,
      data,
    }));
  const call = (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
    gateway.call({
      method,
      url,
      headers: { ...partner.headers, 'idempotency-key': freshKey() },
      ...(payload !== undefined && { payload }),
    });

  it('include a merchant that is created, changed and deleted', async () => {
    const { id } = await createTestMerchant(gateway, partner.headers);
    assert.equal((await call('PATCH', `/v1/merchants/${id}`, { merchantName: 'Other shop' })).statusCode, 200);
    assert.equal((await call('DELETE', `/v1/merchants/${id}`)).statusCode, 200);
    assert.equal((await call('DELETE', `/v1/merchants/${id}`)).statusCode, 200, 'again changes nothing');
    const actor = `key:${partner.key.id}`;
    const events = await eventsOf(id);
    assert.deepEqual(
      events.map(({ sequence, type, actor: by, data }) => [sequence, type, by, data.name, data.deletedAt !== null]),
      [
        [1, 'merchant.created', actor, 'Test shop', false],
        [2, 'merchant.updated', actor, 'Other shop', false],
        [3, 'merchant.updated', actor, 'Other shop', true],
      ],
    );
  });

  it('include destinations that are added, changed and removed', async () => {
    const { id: merchantId } = await createTestMerchant(gateway, partner.headers);
    const url = `/v1/merchants/${merchantId}/settlements/crypto`;
    const added = await call('POST', url, { settlements: [{ asset: DOLLAR, destination: DESTINATION }] });
    assert.equal(added.statusCode, 201, added.body);
    const [{ id } = { id: '' }] = added.json().settlements as { id: string }[];
    assert.equal((await call('PUT', `${url}/${id}`, { destination: OTHER })).statusCode, 200);
    assert.equal((await call('DELETE', `${url}/${id}`)).statusCode, 200);
    const type = 'settlement_destination.changed';
    const actor = `key:${partner.key.id}`;
    assert.deepEqual(await eventsOf(id), [
      { sequence: 1, type, actor, data: { asset: DOLLAR, destination: DESTINATION, isRemoved: false } },
      { sequence: 2, type, actor, data: { asset: DOLLAR, destination: OTHER, isRemoved: false } },
      { sequence: 3, type, actor, data: { asset: DOLLAR, destination: OTHER, isRemoved: true } },
    ]);
  });

  it('include bank arrangements that are added and removed', async () => {
    const { id: merchantId } = await createTestMerchant(gateway, partner.headers);
    const kept = { actor: 'operator', merchantId, bankType: 'sepa', status: 'active' } as const;
    const { id } = await addFiatSettlement(gateway, kept);
    await removeFiatSettlement(gateway, { actor: 'operator', settlementId: id });
    const type = 'settlement_destination.changed';
    const data = { status: 'active', bankType: 'sepa' };
    assert.deepEqual(await eventsOf(id), [
      { sequence: 1, type, actor: 'operator', data: { ...data, isRemoved: false } },
      { sequence: 2, type, actor: 'operator', data: { ...data, isRemoved: true } },
    ]);
  });

  it('do not include a change that was rolled back', async () => {
    const { id: merchantId } = await createTestMerchant(gateway, partner.headers);
    const url = `/v1/merchants/${merchantId}/settlements/crypto`;
    const settlement = { asset: DOLLAR, destination: DESTINATION };
    await call('POST', url, { settlements: [settlement] });
    const count = async () => (await gateway.db.sql`select from events`).length;
    const before = await count();
    assert.equal((await call('POST', url, { settlements: [settlement] })).statusCode, 409);
    assert.equal(await count(), before);
  });

  it('are placed one after the other, each with its partner, mode and merchant', async () => {
    const { id } = await createTestMerchant(gateway, partner.headers);
    const all = () => readEvents(gateway.db.sql, { after: 0, limit: 1_000 });
    await until('it is placed', async () => (await all()).some(({ objectId }) => objectId === id));
    const event = (await all()).find(({ objectId }) => objectId === id);
    const { partnerId, mode, merchantId } = event ?? {};
    assert.deepEqual({ partnerId, mode, merchantId }, { partnerId: partner.partner.id, mode: 'test', merchantId: id });
  });
});
