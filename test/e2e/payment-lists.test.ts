import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { deleteMerchant } from '../../src/actions/parties/change-merchant.ts';
import { expirePayments } from '../../src/actions/paying/expire-payments.ts';
import { foldStats } from '../../src/actions/paying/fold-stats.ts';
import { createTestKey, createTestMerchant } from '../gateway.ts';
import {
  BASE_USDC,
  BSC_USDC,
  fields,
  type Json,
  type ListTest,
  MAINNET_ETH,
  type Query,
  references,
  startListTest,
} from './list-test.ts';
import { BUYER, happen, openShop, type Shop, TOKEN, TX_HASH } from './shop.ts';

const ALL_SIX = 'requires_action,processing,succeeded,failed,expired,cancelled';

describe('lists of payments', () => {
  let t: ListTest;
  before(async () => {
    t = await startListTest();
  });
  after(() => t.gateway.stop());

  describe('show', () => {
    it('nothing where there is nothing', async () => {
      const shop = await openShop(t.gateway);
      const nothing = {
        data: [],
        nextCursor: null,
        stats: { totalRevenue: [], totalTransactions: 0, totalCustomers: 0 },
      };
      assert.deepEqual(await t.listed(shop), nothing);
      assert.deepEqual((await t.ask('/v1/payments', { 'api-key': shop.secret })).json(), nothing);
    });

    it('each payment as far as it is known', async () => {
      const shop = await openShop(t.gateway);
      const waiting = await t.add(shop, 'waiting');
      const made = new Date(t.time.clock.nowMs()).toISOString();
      const paid = await t.add(shop, 'paid');
      await happen(t.gateway, paid, 'confirmed');
      await t.time.advance(1_500);
      await happen(t.gateway, paid, 'succeeded');
      const { data } = await t.listed(shop);
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
          display: {
            assetSymbol: 'USDC',
            assetName: 'USD Coin',
            decimals: 6,
            networkName: 'Base',
            iconUrl: 'http://localhost:8080/icons/token/USDC.svg',
            networkIconUrl: 'http://localhost:8080/icons/network/eip155-8453.svg',
          },
        },
        buyer: { accountCaip10: BUYER.account, accountProviderName: 'Wallet' },
        transaction: { networkId: '8453', hash: TX_HASH, nonce: 7 },
        settlement: { settled: false },
        createdAt: new Date(Date.parse(made) + 1_000).toISOString(),
        lastUpdatedAt: new Date(Date.parse(made) + 2_500).toISOString(),
      });
    });

    it('a price in a token as a token amount alone', async () => {
      const shop = await openShop(t.gateway);
      await t.add(shop, 'in a token', '5', `caip19/${BASE_USDC.toLowerCase()}`);
      const [item] = (await t.listed(shop)).data;
      assert.equal(item.fiatAmount, undefined);
      assert.deepEqual([item.tokenAmount.unit, item.tokenAmount.value], [`caip19/${BASE_USDC}`, '5']);
    });

    it('all six statuses in every version, and time that has run out, swept or not', async () => {
      const shop = await openShop(t.gateway);
      await t.oneOfEach(shop);
      const expected = ['cancelled', 'failed', 'succeeded', 'processing', 'requires_action', 'processing', 'expired'];
      const before = await t.listed(shop);
      for (const version of ['2026-02-18', '2026-02-19.preview']) {
        const headers = { ...shop.headers, 'pay-version': version };
        const response = await t.ask('/v1/merchants/payments', headers);
        assert.equal(response.headers['pay-version'], version);
        assert.deepEqual(
          response.json().data.map((item: Json) => item.status),
          expected,
        );
      }
      const [native, overdue] = before.data.slice(-2);
      assert.deepEqual([overdue.isTerminal, native.isTerminal], [true, false]);
      assert.ok(overdue.lastUpdatedAt > overdue.createdAt);
      await expirePayments(t.gateway);
      await foldStats(t.gateway);
      assert.deepEqual(await t.listed(shop), before, 'sweeping and folding change nothing that is seen');
    });

    it('no other merchant, partner or mode', async () => {
      const shop = await openShop(t.gateway);
      const second = await createTestMerchant(t.gateway, { 'api-key': shop.secret });
      const stranger = await openShop(t.gateway);
      const live = await createTestKey(t.gateway, shop.partner.id, { mode: 'live' });
      await t.add(shop, 'own');
      await t.add(stranger, 'strange');
      assert.deepEqual(references(await t.listed(shop)), ['own']);
      assert.deepEqual(references(await t.listed(shop, {}, { ...shop.headers, 'merchant-id': second.id })), []);
      for (const headers of [
        { ...shop.headers, 'merchant-id': stranger.merchant.id },
        { ...shop.headers, 'api-key': live.secret },
      ]) {
        const response = await t.ask('/v1/merchants/payments', headers);
        assert.deepEqual([response.statusCode, response.json().code], [404, 'merchant_not_found']);
      }
      const partnerWide = await t.ask('/v1/payments', { 'api-key': live.secret });
      assert.deepEqual([partnerWide.json().data, partnerWide.json().stats.totalTransactions], [[], 0]);
    });

    it('the earlier payments of a deleted merchant', async () => {
      const shop = await openShop(t.gateway);
      await t.add(shop, 'before');
      const owner = { partnerId: shop.partner.id, mode: 'test' } as const;
      await deleteMerchant(t.gateway, { owner, actor: 'test', merchantId: shop.merchant.id });
      await t.time.advance(10_000);
      assert.deepEqual(references(await t.listed(shop)), ['before']);
      assert.deepEqual(references((await t.ask('/v1/payments', { 'api-key': shop.secret })).json()), ['before']);
      const old = await t.ask(`/v1/merchants/${shop.merchant.id}/payments`, shop.headers);
      assert.deepEqual(references(old.json()), ['before']);
    });
  });

  describe('of all merchants', () => {
    it('accept any number of ids, and ids of other partners match nothing', async () => {
      const shop = await openShop(t.gateway);
      const stranger = await openShop(t.gateway);
      const second = await createTestMerchant(t.gateway, { 'api-key': shop.secret }, { merchantName: 'Second' });
      const ofSecond = { ...shop, headers: { ...shop.headers, 'merchant-id': second.id } };
      await t.add(shop, 'first');
      await t.time.advance(1_000);
      const response = await t.gateway.call({
        method: 'POST',
        url: '/v1/payments',
        headers: ofSecond.headers,
        payload: { amount: { unit: 'iso4217/EUR', value: '7' }, referenceId: 'second' },
      });
      assert.equal(response.statusCode, 201);
      await t.add(stranger, 'strange');
      const key = { 'api-key': shop.secret };
      const of = async (...merchantId: string[]) => (await t.ask('/v1/payments', key, { merchantId })).json();
      assert.deepEqual(references(await of()), ['second', 'first']);
      assert.deepEqual(references(await of(shop.merchant.id)), ['first']);
      assert.deepEqual(references(await of(shop.merchant.id, second.id)), ['second', 'first']);
      assert.deepEqual((await of(second.id)).data[0].merchant, { id: second.id, name: 'Second', iconUrl: null });
      for (const ids of [[stranger.merchant.id], ['mrch_unknown'], ['x'.repeat(256)]]) {
        const { data, stats } = await of(...ids);
        assert.deepEqual([data, stats.totalTransactions], [[], 0], ids.join());
      }
      for (const merchantId of ['', '\0']) {
        assert.deepEqual(fields(await t.refused(shop, { merchantId }, '/v1/payments')), ['merchantId[0]']);
      }
    });

    it('show a key that is for certain merchants only those', async () => {
      const shop = await openShop(t.gateway);
      const second = await createTestMerchant(t.gateway, { 'api-key': shop.secret });
      const { secret } = await createTestKey(t.gateway, shop.partner.id, { key: { merchantIds: [second.id] } });
      await t.add(shop, 'first');
      const restricted = { 'api-key': secret };
      for (const query of [{}, { merchantId: shop.merchant.id }, { merchantId: [shop.merchant.id, second.id] }]) {
        const { data, stats } = (await t.ask('/v1/payments', restricted, query as Query)).json();
        assert.deepEqual([data, stats.totalTransactions], [[], 0]);
      }
      for (const url of ['/v1/merchants/payments', `/v1/merchants/${shop.merchant.id}/payments`]) {
        const response = await t.ask(url, { ...restricted, 'merchant-id': shop.merchant.id });
        assert.deepEqual([response.statusCode, response.json().code], [403, 'forbidden']);
      }
    });
  });

  describe('are narrowed', () => {
    let shop: Shop;
    before(async () => {
      shop = await openShop(t.gateway);
      await t.oneOfEach(shop);
    });

    it('by statuses as they are seen, repeated and with commas', async () => {
      const of = async (...status: string[]) => {
        const { data, stats } = await t.listed(shop, { status });
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
      const all = (await t.listed(shop)).data;
      const [first, second] = [all[4].createdAt, all[2].createdAt];
      const of = async (query: Query) => references(await t.listed(shop, query));
      assert.deepEqual(await of({ startTs: first, endTs: second }), ['signed', 'waiting']);
      assert.deepEqual(await of({ startTs: second }), ['cancelled', 'declined', 'paid']);
      assert.deepEqual(await of({ endTs: first }), ['native', 'overdue']);
      assert.deepEqual(await of({ startTs: first, endTs: first }), []);
      const local = new Date(Date.parse(first) + 19_800_000).toISOString().replace('Z', '+05:30');
      assert.deepEqual(await of({ startTs: local, endTs: second }), ['signed', 'waiting']);
      const unescaped = `/v1/merchants/payments?startTs=${local}&endTs=${second}`;
      assert.deepEqual(references((await t.gateway.call({ url: unescaped, headers: shop.headers })).json()), [
        'signed',
        'waiting',
      ]);
      assert.deepEqual(await of({ startTs: first.replace('Z', '000001Z'), endTs: second }), ['signed']);
      assert.equal((await of({ startTs: '1969-01-01T00:00Z', endTs: '9999-12-31T23:59:59.999Z' })).length, 7);
      assert.equal((await of({ startTs: '0000-01-01T00:00:00Z', endTs: '9999-12-31T23:59:59-23:59' })).length, 7);
      assert.equal((await of({ startTs: '0000-01-01T00:00:00+00:01' })).length, 7);
    });

    it('by tokens and networks', async () => {
      const other = await openShop(t.gateway);
      await t.add(other, 'none yet');
      await t.pay(await t.add(other, 'base'), { asset: BASE_USDC });
      await t.pay(await t.add(other, 'bsc'), { asset: BSC_USDC });
      await t.pay(await t.add(other, 'ether'), { asset: MAINNET_ETH });
      await t.add(other, 'priced in it', '5', `caip19/${BASE_USDC}`);
      const of = async (query: Query) => {
        const { data, stats } = await t.listed(other, query);
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

    it('by a part of the reference, in any case', async () => {
      const other = await openShop(t.gateway);
      const names = ['Order 10%_a', 'order-10', 'ORDER/10:2.5,+x', 'täst'];
      const found = async (query: Query) => {
        const { data, stats } = await t.listed(other, query);
        assert.equal(stats.totalTransactions, data.length);
        return references({ data });
      };
      // Each state of a payment has a way of its own to the reference.
      const states: Record<string, (name: string) => Promise<unknown>> = {
        open: (name) => t.add(other, name),
        paid: async (name) => t.pay(await t.add(other, name)),
        cancelled: async (name) => other.cancel(await t.add(other, name)),
        'open for a week': (name) =>
          t.add(other, name, '100', 'iso4217/USD', { expiresAt: Math.floor(t.time.clock.nowMs() / 1000) + 604_800 }),
      };
      for (const [state, bring] of Object.entries(states)) {
        const startTs = new Date(t.time.clock.nowMs() + 500).toISOString();
        for (const name of names) await bring(name);
        const expected: [text: string, found: string[]][] = [
          ['rder', ['ORDER/10:2.5,+x', 'order-10', 'Order 10%_a']],
          ['RDER', ['ORDER/10:2.5,+x', 'order-10', 'Order 10%_a']],
          ['oRDeR/1', ['ORDER/10:2.5,+x']],
          ['order/10:2.5,+X', ['ORDER/10:2.5,+x']],
          ['10:2.5,+x', ['ORDER/10:2.5,+x']],
          ['r-10', ['order-10']],
          ['R-10', ['order-10']],
          ['R 10', ['Order 10%_a']],
          ['nothing', []],
        ];
        for (const [text, names] of expected) {
          assert.deepEqual(await found({ startTs, referenceId: text }), names, `${state}: ${text}`);
          assert.deepEqual(await found({ startTs, search: text }), names, `${state}, a search: ${text}`);
        }
        // A search takes any text.
        assert.deepEqual(await found({ startTs, search: 'R 10%_A' }), ['Order 10%_a'], state);
        assert.deepEqual(await found({ startTs, search: 'TÄST' }), ['täst'], state);
      }
    });

    it('by everything at once', async () => {
      const all = (await t.listed(shop)).data;
      const query = {
        status: 'succeeded,failed',
        startTs: all[4].createdAt,
        referenceId: 'aid',
        token_symbol: 'USDC',
        network: 'eip155:8453',
      };
      const { data, stats } = await t.listed(shop, query);
      assert.deepEqual(references({ data }), ['paid']);
      assert.deepEqual(stats, {
        totalRevenue: [{ amount: 4, currency: 'USD' }],
        totalTransactions: 1,
        totalCustomers: 1,
      });
    });
  });
});
