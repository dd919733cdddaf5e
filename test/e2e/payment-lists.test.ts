import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { deleteMerchant } from '../../src/actions/change-merchant.ts';
import { expirePayments } from '../../src/actions/expire-payments.ts';
import { foldStats } from '../../src/actions/fold-stats.ts';
import type { PaymentEvent } from '../../src/domain/payment.ts';
import { createTestKey, createTestMerchant, startTestGateway, type TestGateway } from '../gateway.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { BUYER, type Headers, happen, openShop, type Shop, TOKEN, TX_HASH } from './shop.ts';

const BASE_USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const BSC_USDC = 'eip155:56/erc20:0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d';
const MAINNET_ETH = 'eip155:1/slip44:60';
const ALL_SIX = 'requires_action,processing,succeeded,failed,expired,cancelled';

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client outside would read them, without types.
type Json = any;
type Query = Record<string, string | number | readonly string[]>;

const search = (query: Query) =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, String(value)]),
    ),
  );
const references = (body: Json) => body.data.map((item: Json) => item.referenceId ?? item.reference_id);

describe('lists of payments', () => {
  let time: ManualTime;
  let gateway: TestGateway;
  before(async () => {
    time = manualTime();
    gateway = await startTestGateway({ world: { clock: time.clock } });
  });
  after(() => gateway.stop());

  const ask = (url: string, headers: Headers, query: Query = {}) =>
    gateway.call({ url: `${url}?${search(query)}`, headers });
  async function listed(shop: Shop, query: Query = {}, headers: Headers = shop.headers): Promise<Json> {
    const response = await ask('/v1/merchants/payments', headers, query);
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  }
  async function refused(shop: Shop, query: Query, url = '/v1/merchants/payments'): Promise<Json> {
    const response = await ask(url, shop.headers, query);
    assert.equal(response.statusCode, 400, `${search(query)}: ${response.body}`);
    return response.json();
  }
  const fields = (body: Json) => body.issues.map(({ field }: { field: string }) => field);
  /** A payment made a second after the one before. */
  async function add(shop: Shop, referenceId: string, value = '1000', unit = 'iso4217/USD', more: object = {}) {
    await time.advance(1_000);
    return (await shop.created({ amount: { unit, value }, referenceId, ...more })).paymentId;
  }
  async function pay(paymentId: string, { account = BUYER.account, asset = BASE_USDC, isNative = false } = {}) {
    const buyer = { ...BUYER, account };
    const event: PaymentEvent = { type: 'confirmed', buyer, token: { asset, value: 10_000_000n }, isNative };
    assert.ok((await gateway.movePayment({ paymentId, event, actor: 'test', evidence: {} })).ok);
    await happen(gateway, paymentId, 'succeeded');
  }
  /** One payment of each status, in the order of their names; the expired one is not swept. */
  async function oneOfEach(shop: Shop): Promise<void> {
    const soon = { expiresAt: Math.floor(time.clock.nowMs() / 1000) + 2 };
    await add(shop, 'overdue', '100', 'iso4217/USD', soon);
    const native = await add(shop, 'native', '150', 'iso4217/USD', { expiresAt: soon.expiresAt + 1 });
    await gateway.db.sql`update payments set native_deadline = ${new Date(2e12)} where id = ${native}`;
    await add(shop, 'waiting', '200');
    await happen(gateway, await add(shop, 'signed', '300'), 'confirmed');
    await pay(await add(shop, 'paid', '400'));
    await happen(gateway, await add(shop, 'declined', '500'), 'confirmed', 'declined');
    await shop.cancel(await add(shop, 'cancelled', '600'));
  }

  describe('show', () => {
    it('nothing where there is nothing', async () => {
      const shop = await openShop(gateway);
      const nothing = {
        data: [],
        nextCursor: null,
        stats: { totalRevenue: [], totalTransactions: 0, totalCustomers: 0 },
      };
      assert.deepEqual(await listed(shop), nothing);
      assert.deepEqual((await ask('/v1/payments', { 'api-key': shop.secret })).json(), nothing);
    });

    it('each payment as far as it is known', async () => {
      const shop = await openShop(gateway);
      const waiting = await add(shop, 'waiting');
      const made = new Date(time.clock.nowMs()).toISOString();
      const paid = await add(shop, 'paid');
      await happen(gateway, paid, 'confirmed');
      await time.advance(1_500);
      await happen(gateway, paid, 'succeeded');
      const { data } = await listed(shop);
      const merchant = { id: shop.merchant.id, name: 'Test shop', iconUrl: null };
      const dollars = {
        unit: 'iso4217/USD',
        value: '1000',
        display: { assetSymbol: 'USD', assetName: 'US Dollar', decimals: 2 },
      };
      assert.deepEqual(data[1], {
        paymentId: waiting,
        merchant,
        referenceId: 'waiting',
        status: 'requires_action',
        isTerminal: false,
        fiatAmount: dollars,
        createdAt: made,
        lastUpdatedAt: made,
      });
      assert.deepEqual(data[0], {
        paymentId: paid,
        merchant,
        referenceId: 'paid',
        status: 'succeeded',
        isTerminal: true,
        fiatAmount: dollars,
        tokenAmount: {
          unit: `caip19/${TOKEN.asset}`,
          value: '10000000',
          display: { assetSymbol: 'USDC', assetName: 'USD Coin', decimals: 6, networkName: 'Base' },
        },
        buyer: { accountCaip10: BUYER.account, accountProviderName: 'Wallet' },
        transaction: { networkId: '8453', hash: TX_HASH, nonce: 7 },
        createdAt: new Date(Date.parse(made) + 1_000).toISOString(),
        lastUpdatedAt: new Date(Date.parse(made) + 2_500).toISOString(),
      });
    });

    it('a price in a token as a token amount alone', async () => {
      const shop = await openShop(gateway);
      await add(shop, 'in a token', '5', `caip19/${BASE_USDC.toLowerCase()}`);
      const [item] = (await listed(shop)).data;
      assert.equal(item.fiatAmount, undefined);
      assert.deepEqual([item.tokenAmount.unit, item.tokenAmount.value], [`caip19/${BASE_USDC}`, '5']);
    });

    it('all six statuses in every version, and time that has run out, swept or not', async () => {
      const shop = await openShop(gateway);
      await oneOfEach(shop);
      const expected = ['cancelled', 'failed', 'succeeded', 'processing', 'requires_action', 'processing', 'expired'];
      const before = await listed(shop);
      for (const version of ['2026-02-18', '2026-02-19.preview']) {
        const headers = { ...shop.headers, 'pay-version': version };
        const response = await ask('/v1/merchants/payments', headers);
        assert.equal(response.headers['pay-version'], version);
        assert.deepEqual(
          response.json().data.map((item: Json) => item.status),
          expected,
        );
      }
      const [native, overdue] = before.data.slice(-2);
      assert.deepEqual([overdue.isTerminal, native.isTerminal], [true, false]);
      assert.ok(overdue.lastUpdatedAt > overdue.createdAt);
      await expirePayments(gateway);
      await foldStats(gateway);
      assert.deepEqual(await listed(shop), before, 'sweeping and folding change nothing that is seen');
    });

    it('no other merchant, partner or mode', async () => {
      const shop = await openShop(gateway);
      const second = await createTestMerchant(gateway, { 'api-key': shop.secret });
      const stranger = await openShop(gateway);
      const live = await createTestKey(gateway, shop.partner.id, { mode: 'live' });
      await add(shop, 'own');
      await add(stranger, 'strange');
      assert.deepEqual(references(await listed(shop)), ['own']);
      assert.deepEqual(references(await listed(shop, {}, { ...shop.headers, 'merchant-id': second.id })), []);
      for (const headers of [
        { ...shop.headers, 'merchant-id': stranger.merchant.id },
        { ...shop.headers, 'api-key': live.secret },
      ]) {
        const response = await ask('/v1/merchants/payments', headers);
        assert.deepEqual([response.statusCode, response.json().code], [404, 'merchant_not_found']);
      }
      const partnerWide = await ask('/v1/payments', { 'api-key': live.secret });
      assert.deepEqual([partnerWide.json().data, partnerWide.json().stats.totalTransactions], [[], 0]);
    });

    it('what a deleted merchant took before', async () => {
      const shop = await openShop(gateway);
      await add(shop, 'before');
      const owner = { partnerId: shop.partner.id, mode: 'test' } as const;
      await deleteMerchant(gateway, { owner, actor: 'test', merchantId: shop.merchant.id });
      await time.advance(10_000);
      assert.deepEqual(references(await listed(shop)), ['before']);
      assert.deepEqual(references((await ask('/v1/payments', { 'api-key': shop.secret })).json()), ['before']);
      const old = await ask(`/v1/merchants/${shop.merchant.id}/payments`, shop.headers);
      assert.deepEqual(references(old.json()), ['before']);
    });
  });

  describe('of all merchants', () => {
    it('take any number of ids, and those that are not the partner’s match nothing', async () => {
      const shop = await openShop(gateway);
      const stranger = await openShop(gateway);
      const second = await createTestMerchant(gateway, { 'api-key': shop.secret }, { merchantName: 'Second' });
      const ofSecond = { ...shop, headers: { ...shop.headers, 'merchant-id': second.id } };
      await add(shop, 'first');
      await time.advance(1_000);
      const response = await gateway.call({
        method: 'POST',
        url: '/v1/payments',
        headers: ofSecond.headers,
        payload: { amount: { unit: 'iso4217/EUR', value: '7' }, referenceId: 'second' },
      });
      assert.equal(response.statusCode, 201);
      await add(stranger, 'strange');
      const key = { 'api-key': shop.secret };
      const of = async (...merchantId: string[]) => (await ask('/v1/payments', key, { merchantId })).json();
      assert.deepEqual(references(await of()), ['second', 'first']);
      assert.deepEqual(references(await of(shop.merchant.id)), ['first']);
      assert.deepEqual(references(await of(shop.merchant.id, second.id)), ['second', 'first']);
      assert.deepEqual((await of(second.id)).data[0].merchant, { id: second.id, name: 'Second', iconUrl: null });
      for (const ids of [[stranger.merchant.id], ['mrch_unknown'], ['\0'], ['x'.repeat(256)]]) {
        const { data, stats } = await of(...ids);
        assert.deepEqual([data, stats.totalTransactions], [[], 0], ids.join());
      }
      assert.deepEqual(fields(await refused(shop, { merchantId: '' }, '/v1/payments')), ['merchantId[0]']);
    });

    it('show a key that is for certain merchants only those', async () => {
      const shop = await openShop(gateway);
      const second = await createTestMerchant(gateway, { 'api-key': shop.secret });
      const { secret } = await createTestKey(gateway, shop.partner.id, { key: { merchantIds: [second.id] } });
      await add(shop, 'first');
      const restricted = { 'api-key': secret };
      for (const query of [{}, { merchantId: shop.merchant.id }, { merchantId: [shop.merchant.id, second.id] }]) {
        const { data, stats } = (await ask('/v1/payments', restricted, query as Query)).json();
        assert.deepEqual([data, stats.totalTransactions], [[], 0]);
      }
      for (const url of ['/v1/merchants/payments', `/v1/merchants/${shop.merchant.id}/payments`]) {
        const response = await ask(url, { ...restricted, 'merchant-id': shop.merchant.id });
        assert.deepEqual([response.statusCode, response.json().code], [403, 'forbidden']);
      }
    });
  });

  describe('are narrowed', () => {
    let shop: Shop;
    before(async () => {
      shop = await openShop(gateway);
      await oneOfEach(shop);
    });

    it('by statuses as they are seen, repeated and with commas', async () => {
      const of = async (...status: string[]) => {
        const { data, stats } = await listed(shop, { status });
        assert.equal(stats.totalTransactions, data.length, 'the statistics are of the same payments');
        return references({ data });
      };
      assert.deepEqual(await of('requires_action'), ['waiting']);
      assert.deepEqual(await of('processing'), ['signed', 'native']);
      assert.deepEqual(await of('succeeded'), ['paid']);
      assert.deepEqual(await of('failed'), ['declined']);
      assert.deepEqual(await of('expired'), ['overdue']);
      assert.deepEqual(await of('cancelled'), ['cancelled']);
      assert.deepEqual(await of('succeeded', 'failed,cancelled', 'succeeded'), ['cancelled', 'declined', 'paid']);
      assert.equal((await of(ALL_SIX)).length, 7);
    });

    it('by the time they were made: from the first bound on, and before the second', async () => {
      const all = (await listed(shop)).data;
      const [first, second] = [all[4].createdAt, all[2].createdAt];
      const of = async (query: Query) => references(await listed(shop, query));
      assert.deepEqual(await of({ startTs: first, endTs: second }), ['signed', 'waiting']);
      assert.deepEqual(await of({ startTs: second }), ['cancelled', 'declined', 'paid']);
      assert.deepEqual(await of({ endTs: first }), ['native', 'overdue']);
      assert.deepEqual(await of({ startTs: first, endTs: first }), []);
      const local = new Date(Date.parse(first) + 19_800_000).toISOString().replace('Z', '+05:30');
      assert.deepEqual(await of({ startTs: local, endTs: second }), ['signed', 'waiting']);
      const unescaped = `/v1/merchants/payments?startTs=${local}&endTs=${second}`;
      assert.deepEqual(references((await gateway.call({ url: unescaped, headers: shop.headers })).json()), [
        'signed',
        'waiting',
      ]);
      assert.deepEqual(await of({ startTs: first.replace('Z', '000001Z'), endTs: second }), ['signed']);
      assert.equal((await of({ startTs: '1969-01-01T00:00Z', endTs: '9999-12-31T23:59:59.999Z' })).length, 7);
    });

    it('by tokens and networks', async () => {
      const other = await openShop(gateway);
      await add(other, 'none yet');
      await pay(await add(other, 'base'), { asset: BASE_USDC });
      await pay(await add(other, 'bsc'), { asset: BSC_USDC });
      await pay(await add(other, 'ether'), { asset: MAINNET_ETH });
      await add(other, 'priced in it', '5', `caip19/${BASE_USDC}`);
      const of = async (query: Query) => {
        const { data, stats } = await listed(other, query);
        assert.equal(stats.totalTransactions, data.length);
        return references({ data });
      };
      assert.deepEqual(await of({ token_symbol: 'USDC' }), ['priced in it', 'bsc', 'base']);
      assert.deepEqual(await of({ token_symbol: 'usdc' }), ['priced in it', 'bsc', 'base']);
      assert.deepEqual(await of({ asset: 'ETH' }), ['ether']);
      assert.deepEqual(await of({ token_symbol: ['ETH', 'USDC,USDT'] }), ['priced in it', 'ether', 'bsc', 'base']);
      assert.deepEqual(await of({ network: 'eip155:8453' }), ['priced in it', 'base']);
      assert.deepEqual(await of({ network: 'eip155:1,eip155:56' }), ['ether', 'bsc']);
      assert.deepEqual(await of({ network: ['eip155:1', 'eip155:56'], token_symbol: 'USDC' }), ['bsc']);
      assert.deepEqual(await of({ network: 'eip155:424242' }), []);
      assert.deepEqual(await of({ token_symbol: 'NONE' }), []);
    });

    it('by a part of the reference, to the letter', async () => {
      const other = await openShop(gateway);
      for (const name of ['Order 10%_a', 'order-10', 'ORDER/10:2.5,+x', 'täst']) await add(other, name);
      const of = async (referenceId: string) => {
        const { data, stats } = await listed(other, { referenceId });
        assert.equal(stats.totalTransactions, data.length);
        return references({ data });
      };
      assert.deepEqual(await of('rder'), ['order-10', 'Order 10%_a']);
      assert.deepEqual(await of('ORDER'), ['ORDER/10:2.5,+x']);
      assert.deepEqual(await of('10:2.5,+x'), ['ORDER/10:2.5,+x']);
      assert.deepEqual(await of('r-10'), ['order-10']);
      assert.deepEqual(await of('r 10'), ['Order 10%_a']);
      assert.deepEqual(await of('nothing'), []);
    });

    it('by everything at once', async () => {
      const all = (await listed(shop)).data;
      const query = {
        status: 'succeeded,failed',
        startTs: all[4].createdAt,
        referenceId: 'aid',
        token_symbol: 'USDC',
        network: 'eip155:8453',
      };
      const { data, stats } = await listed(shop, query);
      assert.deepEqual(references({ data }), ['paid']);
      assert.deepEqual(stats, {
        totalRevenue: [{ amount: 4, currency: 'USD' }],
        totalTransactions: 1,
        totalCustomers: 1,
      });
    });
  });

  describe('are sorted', () => {
    let shop: Shop;
    before(async () => {
      shop = await openShop(gateway);
      await add(shop, '10 dollars', '1000');
      await add(shop, '9 yen', '9', 'iso4217/JPY');
      await add(shop, '10.001 dinar', '10001', 'iso4217/KWD');
      await add(shop, '10 again', '1000');
      await add(shop, 'a millionth', '1', `caip19/${BASE_USDC}`);
      await add(shop, 'far less', '1', `caip19/${BSC_USDC}`);
      await add(shop, 'far more', '9'.repeat(78), 'iso4217/JPY');
      await add(shop, 'a wei less', `${'9'.repeat(59)}8${'9'.repeat(18)}`, `caip19/${MAINNET_ETH}`);
    });
    const BY_AMOUNT = [
      'far less',
      'a millionth',
      '9 yen',
      '10 dollars',
      '10 again',
      '10.001 dinar',
      'a wei less',
      'far more',
    ];

    it('by date or amount, up or down; newest first if nothing is said', async () => {
      const newest = (await listed(shop)).data.map((item: Json) => item.createdAt);
      assert.deepEqual(newest, newest.toSorted().toReversed());
      const of = async (query: Query) => references(await listed(shop, query));
      const byDate = await of({ sortBy: 'date', sortDir: 'asc' });
      assert.deepEqual(byDate, (await of({})).toReversed());
      assert.deepEqual(await of({ sortBy: 'date' }), await of({}));
      assert.deepEqual(await of({ sortBy: 'amount', sortDir: 'asc' }), BY_AMOUNT);
      assert.deepEqual(await of({ sortBy: 'amount' }), BY_AMOUNT.toReversed());
    });

    it('the same on any page size, each payment once', async () => {
      for (const [sortBy, sortDir] of [
        ['date', 'asc'],
        ['date', 'desc'],
        ['amount', 'asc'],
        ['amount', 'desc'],
      ] as const) {
        const whole = references(await listed(shop, { sortBy, sortDir }));
        for (const limit of [1, 3, 8]) {
          assert.deepEqual(await follow(shop, { sortBy, sortDir, limit }), whole, `${sortBy} ${sortDir} ${limit}`);
        }
      }
    });
  });

  async function follow(shop: Shop, query: Query): Promise<string[]> {
    const found: string[] = [];
    let cursor: string | null | undefined;
    do {
      const body: Json = await listed(shop, { ...query, ...(cursor && { cursor }) });
      assert.ok(body.data.length <= Number(query.limit));
      found.push(...references(body));
      cursor = body.nextCursor;
    } while (cursor !== null && found.length < 1_000);
    return found;
  }

  describe('go on', () => {
    let shop: Shop;
    let second: { id: string };
    before(async () => {
      shop = await openShop(gateway);
      second = await createTestMerchant(gateway, { 'api-key': shop.secret });
      for (const name of ['one', 'two', 'three']) await add(shop, name);
    });

    it('where the page ended, whatever was made meanwhile', async () => {
      const { data, nextCursor } = await listed(shop, { limit: 1 });
      assert.deepEqual(references({ data }), ['three']);
      await add(shop, 'four');
      const next = await listed(shop, { limit: 2, cursor: nextCursor });
      assert.deepEqual([references(next), next.nextCursor], [['two', 'one'], null]);
      assert.equal(next.stats.totalTransactions, 4, 'the statistics are of all pages');
    });

    it('with the same question in other words', async () => {
      const query = { status: 'succeeded,requires_action', startTs: '2026-01-01T00:00:00Z', limit: 1 };
      const { nextCursor } = await listed(shop, query);
      const same = {
        status: ['requires_action', 'succeeded'],
        startTs: '2026-01-01T01:00+01:00',
        limit: 3,
        sortBy: 'date',
      };
      assert.equal((await listed(shop, { ...same, cursor: nextCursor })).data.length, 3);
      const wide = await ask('/v1/payments', shop.headers, {
        ...same,
        merchantId: shop.merchant.id,
        cursor: nextCursor,
      });
      assert.equal(wide.json().data.length, 3);
    });

    it('not with another question', async () => {
      const query = { status: 'requires_action', limit: 1 };
      const { nextCursor: cursor } = await listed(shop, query);
      const others: Query[] = [
        {},
        { status: 'succeeded' },
        { ...query, startTs: '2026-01-01T00:00:00Z' },
        { ...query, endTs: '2126-01-01T00:00:00Z' },
        { ...query, token_symbol: 'USDC' },
        { ...query, network: 'eip155:1' },
        { ...query, referenceId: 'one' },
        { ...query, sortBy: 'amount' },
        { ...query, sortDir: 'asc' },
      ];
      for (const other of others) {
        const { code, message } = await refused(shop, { ...other, cursor });
        assert.deepEqual([code, message.includes('cursor')], ['invalid_params', true], JSON.stringify(other));
      }
      const stranger = await openShop(gateway);
      for (const headers of [{ ...shop.headers, 'merchant-id': second.id }, stranger.headers]) {
        const response = await ask('/v1/merchants/payments', headers, { ...query, cursor });
        assert.deepEqual([response.statusCode, response.json().code], [400, 'invalid_params']);
      }
      assert.equal((await refused(shop, { ...query, cursor }, '/v1/payments')).code, 'invalid_params');
    });

    it('not from a cursor that was altered or made up', async () => {
      const { nextCursor } = await listed(shop, { limit: 1 });
      const altered = nextCursor.replace(/.$/, (last: string) => (last === 'A' ? 'B' : 'A'));
      for (const cursor of [altered, `${nextCursor}A`, nextCursor.slice(1), 'x', '!', '💥', 'A'.repeat(1024)]) {
        assert.equal((await refused(shop, { cursor })).code, 'invalid_params', cursor);
      }
      for (const cursor of ['', 'A'.repeat(1025)]) {
        assert.deepEqual(fields(await refused(shop, { cursor })), ['cursor']);
      }
    });
  });

  describe('add up', () => {
    const statsOf = async (shop: Shop, query: Query = {}) => {
      const { body } = await ask('/v1/merchants/payments', shop.headers, query);
      return body.slice(body.indexOf('"stats":') + 8, -1);
    };
    /** From the totals, and from the rows. */
    const WAYS: Query[] = [
      {},
      { status: 'succeeded' },
      { startTs: '2026-01-01T00:00:00Z' },
      { network: 'eip155:8453' },
    ];

    it('what succeeded, exactly, by currency and token', async () => {
      const shop = await openShop(gateway);
      await pay(await add(shop, 'a', '10'));
      await pay(await add(shop, 'b', '20'));
      await pay(await add(shop, 'c', '1', 'iso4217/KWD'));
      await pay(await add(shop, 'd', '3', 'iso4217/JPY'));
      await pay(await add(shop, 'e', '1', `caip19/${BASE_USDC}`));
      await pay(await add(shop, 'f', '1', `caip19/${BSC_USDC}`));
      const revenue = [
        '{"amount":3,"currency":"JPY"}',
        '{"amount":0.001,"currency":"KWD"}',
        '{"amount":0.3,"currency":"USD"}',
        '{"amount":0.000001000000000001,"currency":"USDC"}',
      ];
      const expected = `{"totalRevenue":[${revenue.join()}],"totalTransactions":6,"totalCustomers":1}`;
      for (const query of WAYS) assert.equal(await statsOf(shop, query), expected, JSON.stringify(query));
      await foldStats(gateway);
      for (const query of WAYS) assert.equal(await statsOf(shop, query), expected, JSON.stringify(query));
    });

    it('without losing a digit of the largest amounts', async () => {
      const shop = await openShop(gateway);
      for (const name of ['a', 'b']) await pay(await add(shop, name, '9'.repeat(78), 'iso4217/JPY'));
      await pay(await add(shop, 'c', `1${'0'.repeat(76)}1`));
      const revenue = `{"amount":1${'9'.repeat(77)}8,"currency":"JPY"},{"amount":1${'0'.repeat(75)}.01,"currency":"USD"}`;
      for (const query of WAYS) {
        assert.equal(
          await statsOf(shop, query),
          `{"totalRevenue":[${revenue}],"totalTransactions":3,"totalCustomers":1}`,
        );
      }
    });

    it('every match, and each buyer once', async () => {
      const shop = await openShop(gateway);
      const other = 'eip155:8453:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
      await pay(await add(shop, 'one'));
      await pay(await add(shop, 'two'));
      await pay(await add(shop, 'three'), { account: other });
      await happen(gateway, await add(shop, 'four'), 'confirmed', 'failed');
      await shop.cancel(await add(shop, 'five'));
      await add(shop, 'six');
      const totals = async (query: Query) => {
        const { totalTransactions, totalCustomers } = (await listed(shop, query)).stats;
        return [totalTransactions, totalCustomers];
      };
      for (const also of [{}, { startTs: '2026-01-01T00:00:00Z' }] as Query[]) {
        assert.deepEqual(await totals(also), [6, 2]);
        assert.deepEqual(await totals({ ...also, status: 'succeeded' }), [3, 2]);
        assert.deepEqual(await totals({ ...also, status: 'failed' }), [1, 1]);
        assert.deepEqual(await totals({ ...also, status: 'succeeded,failed' }), [4, 2]);
        assert.deepEqual(await totals({ ...also, status: 'cancelled,requires_action' }), [2, 0]);
      }
      assert.deepEqual(await totals({ referenceId: 'thr' }), [1, 1]);
    });
  });

  describe('refuse', () => {
    let shop: Shop;
    before(async () => {
      shop = await openShop(gateway);
    });

    const CASES: readonly [query: Query, field: string, message: RegExp][] = [
      [{ limit: 0 }, 'limit', />= 1/],
      [{ limit: 201 }, 'limit', /<= 200/],
      [{ limit: 'abc' }, 'limit', /integer/],
      [{ limit: '1.5' }, 'limit', /integer/],
      [{ limit: '' }, 'limit', /integer/],
      [{ limit: ['5', '6'] }, 'limit', /integer/],
      [{ referenceId: 'ab' }, 'referenceId', /fewer than 3/],
      [{ referenceId: 'a'.repeat(36) }, 'referenceId', /more than 35/],
      [{ referenceId: '100%' }, 'referenceId', /ASCII letters/],
      [{ referenceId: 'tästing' }, 'referenceId', /ASCII letters/],
      [{ referenceId: ['one', 'two'] }, 'referenceId', /string/],
      [{ startTs: '2026-02-18T09:30:00' }, 'startTs', /offset/],
      [{ startTs: '2026-02-18' }, 'startTs', /RFC 3339/],
      [{ startTs: '2026-02-30T00:00:00Z' }, 'startTs', /calendar/],
      [{ startTs: '2026-02-29T00:00:00Z' }, 'startTs', /calendar/],
      [{ endTs: '2026-02-18T25:00:00Z' }, 'endTs', /clock/],
      [{ startTs: '2026-02-18T09:30:01Z', endTs: '2026-02-18T10:30+01:00' }, 'endTs', /not be before the start/],
      [{ startTs: ['2026-02-18T09:30Z', '2026-02-18T09:30Z'] }, 'startTs', /string/],
      [{ status: 'done' }, 'status[0]', /requires_action, processing, succeeded, failed, expired, cancelled/],
      [{ status: 'succeeded,DONE' }, 'status[1]', /one of/],
      [{ status: '' }, 'status[0]', /one of/],
      [{ status: Array.from({ length: 100 }, () => 'failed') }, 'status', /more than 50/],
      [{ status: Array.from({ length: 51 }, () => 'failed').join() }, 'status', /more than 50/],
      [{ token_symbol: '' }, 'token_symbol[0]', /fewer than 1/],
      [{ token_symbol: BASE_USDC }, 'token_symbol[0]', /CAIP-19 ids are not taken/],
      [{ network: '8453' }, 'network[0]', /CAIP-2/],
      [{ network: 'eip155:1,,eip155:10' }, 'network[1]', /CAIP-2/],
      [{ sortBy: 'name' }, 'sortBy', /date, amount/],
      [{ sortDir: 'DESC' }, 'sortDir', /asc, desc/],
      [{ sortBy: ['date', 'date'] }, 'sortBy', /string/],
    ];
    for (const [query, field, message] of CASES) {
      it(`${search(query).toString().slice(0, 80)}`, async () => {
        for (const url of ['/v1/merchants/payments', '/v1/payments']) {
          const body = await refused(shop, query, url);
          assert.equal(body.code, 'params_validation');
          assert.deepEqual(fields(body), [field]);
          assert.match(body.issues[0].message, message);
        }
      });
    }

    it('all that is wrong at once', async () => {
      const body = await refused(shop, {
        startTs: '2026-03-01T00:00Z',
        endTs: '2026-02-01T00:00Z',
        status: 'x',
        limit: 0,
        referenceId: '%',
        network: 'base',
        sortBy: 'x',
        sortDir: 'x',
      });
      assert.deepEqual(
        fields(body).toSorted(),
        ['endTs', 'limit', 'network[0]', 'referenceId', 'sortBy', 'sortDir', 'status[0]'].toSorted(),
      );
    });

    it('callers without a key, a merchant or the scope', async () => {
      const code = async (url: string, headers: Headers) => {
        const response = await ask(url, headers);
        return [response.statusCode, response.json().code];
      };
      const old = `/v1/merchants/${shop.merchant.id}/payments`;
      assert.deepEqual(await code('/v1/merchants/payments', {}), [401, 'missing_api_key']);
      assert.deepEqual(await code('/v1/payments', {}), [401, 'missing_api_key']);
      assert.deepEqual(await code(old, {}), [401, 'missing_merchant_api_key']);
      assert.deepEqual(await code(old, { 'x-api-key': 'till_test_nonsense' }), [401, 'invalid_api_key']);
      assert.deepEqual(await code('/v1/merchants/payments', { 'api-key': shop.secret }), [401, 'missing_merchant_id']);
      assert.deepEqual(await code('/v1/merchants/mrch_x/payments', { 'api-key': shop.secret }), [
        404,
        'merchant_not_found',
      ]);
      const { secret } = await createTestKey(gateway, shop.partner.id, { key: { scopes: ['payments:write'] } });
      for (const url of ['/v1/merchants/payments', '/v1/payments', old]) {
        assert.deepEqual(await code(url, { ...shop.headers, 'api-key': secret }), [403, 'forbidden'], url);
      }
    });
  });

  describe('of old', () => {
    let shop: Shop;
    let url: string;
    before(async () => {
      shop = await openShop(gateway);
      url = `/v1/merchants/${shop.merchant.id}/payments`;
      await oneOfEach(shop);
      await add(shop, 'just fits', String(2 ** 31 - 1));
      await add(shop, 'too much', String(2 ** 31));
    });
    const old = async (query: Query = {}) => {
      const response = await ask(url, { 'x-api-key': shop.secret }, query);
      assert.equal(response.statusCode, 200, response.body);
      return response.json();
    };

    it('keep their shape and five statuses', async () => {
      const { data, next_cursor, stats } = await old();
      assert.equal(next_cursor, null);
      const statusOf = Object.fromEntries(data.map((item: Json) => [item.reference_id, item.status]));
      assert.equal(statusOf.cancelled, 'failed');
      assert.equal(statusOf.overdue, 'expired');
      const paid = data.find((item: Json) => item.reference_id === 'paid');
      const { payment_id, created_at, last_updated_at, ...rest } = paid;
      assert.match(payment_id, /^pay_/);
      assert.equal(created_at, last_updated_at);
      assert.deepEqual(rest, {
        merchant_id: shop.merchant.id,
        reference_id: 'paid',
        status: 'succeeded',
        is_terminal: true,
        fiat_amount: 400,
        fiat_currency: 'iso4217/USD',
        wallet_name: 'Wallet',
        wallet_logo: null,
        buyer_caip10: BUYER.account,
        chain_id: 'eip155:8453',
        chain_logo: null,
        token_caip19: BASE_USDC,
        token_symbol: 'USDC',
        token_decimals: 6,
        token_logo: null,
        token_amount: '10000000',
        tx_hash: TX_HASH,
        nonce: 7,
        settled_at: null,
        settlement_status: null,
        settlement_tx_hash: null,
      });
      assert.deepEqual(stats, {
        total_revenue: { amount: 4, currency: 'USD' },
        total_transactions: 9,
        total_customers: 1,
      });
    });

    it('have null for amounts beyond 32 bits', async () => {
      const [big, fits] = (await old()).data;
      assert.deepEqual([fits.fiat_amount, big.fiat_amount, big.fiat_currency], [2 ** 31 - 1, null, 'iso4217/USD']);
      assert.equal(fits.wallet_name, '');
    });

    it('have one revenue, and say 0 USD for none', async () => {
      const poor = await openShop(gateway);
      const at = `/v1/merchants/${poor.merchant.id}/payments`;
      const revenue = async () => (await ask(at, poor.headers)).json().stats.total_revenue;
      assert.deepEqual(await revenue(), { amount: 0, currency: 'USD' });
      await pay(await add(poor, 'dollars', '100'));
      await pay(await add(poor, 'euros', '250', 'iso4217/EUR'));
      assert.deepEqual(await revenue(), { amount: 2.5, currency: 'EUR' });
    });

    it('take their own parameters', async () => {
      assert.deepEqual(references(await old({ status: 'failed' })), ['cancelled', 'declined']);
      assert.deepEqual(references(await old({ status: ['succeeded', 'expired'] })), ['paid', 'overdue']);
      assert.deepEqual(references(await old({ asset: 'USDC', network: 'eip155:8453' })), [
        'declined',
        'paid',
        'signed',
      ]);
      const cheapest = await old({ sort_by: 'amount', sort_dir: 'asc', limit: 2 });
      assert.deepEqual(references(cheapest), ['overdue', 'native']);
      const next = await old({ sort_by: 'amount', sort_dir: 'asc', limit: 2, cursor: cheapest.next_cursor });
      assert.deepEqual(references(next), ['waiting', 'signed']);
      const [newest] = cheapest.data;
      assert.deepEqual(references(await old({ end_ts: newest.created_at, start_ts: '2026-01-01T00:00Z' })), []);
      for (const [query, field] of [
        [{ status: 'cancelled' }, 'status[0]'],
        [{ start_ts: 'x' }, 'start_ts'],
        [{ start_ts: '2026-02-02T00:00Z', end_ts: '2026-02-01T00:00Z' }, 'end_ts'],
        [{ sort_by: 'x' }, 'sort_by'],
        [{ limit: 201 }, 'limit'],
      ] as [Query, string][]) {
        assert.deepEqual(fields(await refused(shop, query, url)), [field]);
      }
    });

    it('say where to go instead, and take either name of the key', async () => {
      for (const headers of [{ 'x-api-key': shop.secret }, { 'api-key': shop.secret }] as Headers[]) {
        for (const query of [{}, { limit: 0 }] as Query[]) {
          const response = await ask(url, headers, query);
          assert.equal(response.headers.deprecation, '@1771372800');
          assert.equal(response.headers.link, '</v1/merchants/payments>; rel="successor-version"');
        }
      }
      const current = await ask('/v1/merchants/payments', shop.headers);
      assert.equal(current.headers.deprecation, undefined);
    });
  });

  it('are one route beside that of a merchant', async () => {
    const shop = await openShop(gateway);
    const response = await gateway.call({ method: 'DELETE', url: '/v1/merchants/payments', headers: shop.headers });
    assert.deepEqual([response.statusCode, response.headers.allow], [405, 'GET, HEAD']);
  });
});
