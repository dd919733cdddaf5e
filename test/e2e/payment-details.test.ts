import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { shortHash } from '../../src/domain/idempotency.ts';
import { freshKey, startTestGateway, type TestGateway } from '../gateway.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { paymentIn, standInPage } from './checkout-page.ts';
import { openShop, type Shop } from './shop.ts';

const USD = { assetSymbol: 'USD', assetName: 'US Dollar', decimals: 2 };
const LINE_ITEMS = [
  { name: 'Espresso', quantity: 2, amount: { unit: 'iso4217/USD', value: '700' } },
  { name: 'A biscuit, with our compliments', amount: { unit: 'iso4217/USD', value: '0' } },
  { name: '“Café” <b>3</b>' },
];
const DETAILS = {
  description: 'Breakfast for two',
  metadata: { table: '14', waiter: 'Zoë', note: 'two lines\nand a\ttab', '': undefined },
  lineItems: LINE_ITEMS,
};

describe('a payment shown in full', () => {
  let time: ManualTime;
  let gateway: TestGateway;
  let shop: Shop;
  before(async () => {
    time = manualTime();
    gateway = await startTestGateway({ world: { clock: time.clock }, page: standInPage() });
    shop = await openShop(gateway);
  });
  after(() => gateway.stop());

  const shown = async (id: string) => (await shop.details(id)).json();

  it('names itself, its merchant, its price, its times and its page', async () => {
    const { paymentId, expiresAt, gatewayUrl } = await shop.created();
    assert.deepEqual(await shown(paymentId), {
      paymentId,
      id: paymentId,
      merchantId: shop.merchant.id,
      referenceId: 'ORDER-42',
      amount: { unit: 'iso4217/USD', value: '1000', display: USD },
      status: 'requires_action',
      createdAt: new Date(time.clock.nowMs()).toISOString(),
      expiresAt,
      gatewayUrl,
      info: null,
      settlement: null,
      refundable: null,
      lateMoney: [],
      description: null,
      acceptedAssets: null,
      metadata: null,
      lineItems: null,
    });
  });

  it('has the description, metadata and line items it was made with', async () => {
    for (const url of ['/v1/payments', '/v1/merchant/payment']) {
      const payload = { amount: { unit: 'iso4217/USD', value: '700' }, referenceId: 'TABLE-14', ...DETAILS };
      const created = await gateway.call({ method: 'POST', url, headers: shop.headers, payload });
      assert.equal(created.statusCode, 201, created.body);
      const { description, metadata, lineItems } = await shown(created.json().paymentId);
      assert.equal(description, DETAILS.description);
      assert.deepEqual(metadata, { table: '14', waiter: 'Zoë', note: 'two lines\nand a\ttab' });
      assert.deepEqual(lineItems, [
        { name: 'Espresso', quantity: 2, amount: { unit: 'iso4217/USD', value: '700', display: USD } },
        {
          name: 'A biscuit, with our compliments',
          quantity: null,
          amount: { unit: 'iso4217/USD', value: '0', display: USD },
        },
        { name: '“Café” <b>3</b>', quantity: null, amount: null },
      ]);
    }
  });

  it('shows the payer its description and line items, and keeps its metadata from them', async () => {
    const { paymentId } = await shop.created(DETAILS);
    const { body } = await gateway.app.inject({ url: `/${paymentId}` });
    const { description, lineItems } = paymentIn(body);
    assert.equal(description, DETAILS.description);
    assert.deepEqual(lineItems, (await shown(paymentId)).lineItems);
    assert.doesNotMatch(body, /waiter/);
    const plain = paymentIn((await gateway.app.inject({ url: `/${(await shop.created()).paymentId}` })).body);
    assert.deepEqual([plain.description, plain.lineItems], [null, null]);
  });

  it('takes null and emptiness for nothing', async () => {
    for (const nothing of [
      { description: null, metadata: null, lineItems: null },
      { metadata: {}, lineItems: [] },
    ]) {
      const { paymentId } = await shop.created(nothing);
      const { description, metadata, lineItems } = await shown(paymentId);
      assert.deepEqual({ description, metadata, lineItems }, { description: null, metadata: null, lineItems: null });
      const [row] = await gateway.db.sql`select details from payments where id = ${paymentId}`;
      assert.equal(row?.details, null, 'nothing is stored');
    }
  });

  it('takes as much as it says', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`${index}`.padEnd(40, 'é'), '日'.repeat(500)]),
    );
    const lineItems = Array.from({ length: 100 }, () => ({ name: 'x'.repeat(200), quantity: 1_000_000 }));
    const { paymentId } = await shop.created({ description: '😀'.repeat(500), metadata });
    assert.deepEqual((await shown(paymentId)).metadata, metadata);
    const long = await shop.created({ lineItems });
    assert.equal((await shown(long.paymentId)).lineItems.length, 100);
  });

  const token = { unit: 'caip19/eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', value: '5' };
  for (const [title, fields, expected] of [
    ['a blank description', { description: ' ' }, 'description'],
    ['a description of 501 characters', { description: 'x'.repeat(501) }, 'description'],
    ['a description with a control character', { description: 'a\u0000b' }, 'description'],
    ['a description that is no text', { description: 1 }, 'description'],
    ['metadata that is a list', { metadata: ['a'] }, 'metadata'],
    [
      '21 keys of metadata',
      { metadata: Object.fromEntries([...'abcdefghijklmnopqrstu'].map((k) => [k, k])) },
      'metadata',
    ],
    ['a key of 41 characters', { metadata: { ['k'.repeat(41)]: 'v' } }, 'metadata'],
    ['an empty key', { metadata: { '': 'v' } }, 'metadata'],
    ['a number in metadata', { metadata: { table: 14 } }, 'metadata.table'],
    ['metadata within metadata', { metadata: { a: { b: 'c' } } }, 'metadata.a'],
    ['a value of 501 characters', { metadata: { a: 'x'.repeat(501) } }, 'metadata.a'],
    ['a value with a control character', { metadata: { a: 'b\u0000' } }, 'metadata.a'],
    ['line items that are no list', { lineItems: {} }, 'lineItems'],
    ['101 line items', { lineItems: Array.from({ length: 101 }, () => ({ name: 'x' })) }, 'lineItems'],
    ['a line item that is null', { lineItems: [null] }, 'lineItems[0]'],
    ['a line item without a name', { lineItems: [{ quantity: 1 }] }, 'lineItems[0].name'],
    ['half an item', { lineItems: [{ name: 'x', quantity: 0.5 }] }, 'lineItems[0].quantity'],
    ['no items of a kind', { lineItems: [{ name: 'x', quantity: 0 }] }, 'lineItems[0].quantity'],
    [
      'a negative amount',
      { lineItems: [{ name: 'x', amount: { ...token, value: '-1' } }] },
      'lineItems[0].amount.value',
    ],
    [
      'an unknown currency',
      { lineItems: [{ name: 'x', amount: { unit: 'iso4217/XXX', value: '1' } }] },
      'lineItems[0].amount.unit',
    ],
  ] as const) {
    it(`refuses ${title}`, async () => {
      const response = await shop.create({ amount: token, referenceId: 'x', ...fields });
      assert.deepEqual([response.statusCode, response.json().code], [400, 'params_validation'], response.body);
      assert.deepEqual(
        response.json().issues.map(({ field }: { field: string }) => field),
        [expected],
      );
    });
  }

  it('is the same request only with the same description, metadata and line items', async () => {
    const key = { 'idempotency-key': freshKey() };
    const order = { amount: token, referenceId: 'SAME', ...DETAILS };
    const { paymentId } = (await shop.create(order, key)).json();
    const reordered = { ...order, metadata: Object.fromEntries(Object.entries(DETAILS.metadata).toReversed()) };
    const replay = await shop.create(reordered, key);
    assert.deepEqual([replay.json().paymentId, replay.headers['idempotent-replayed']], [paymentId, 'true']);
    for (const other of [
      { description: 'Lunch' },
      { description: null },
      { metadata: { table: '15' } },
      { lineItems: LINE_ITEMS.toReversed() },
    ]) {
      const response = await shop.create({ ...order, ...other }, key);
      assert.deepEqual([response.statusCode, response.json().code], [409, 'idempotency_conflict']);
    }
  });

  it('without them is the request it always was, so that a retry across an upgrade finds its payment', async () => {
    const { paymentId } = (await shop.create(undefined, { 'idempotency-key': freshKey() })).json();
    const [row] = await gateway.db.sql`
      select replace(request_hash::text, '-', '') as hash from payment_keys where payment_id = ${paymentId}`;
    assert.equal(row?.hash, shortHash(JSON.stringify(['iso4217/USD', '1000', 'ORDER-42', null, null, null])));
  });
});
