import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { BASE_USDC, fields, type Json, type ListTest, type Query, references, startListTest } from './list-test.ts';
import { BUYER, type Headers, openShop, type Shop, TX_HASH } from './shop.ts';

describe('the lists', () => {
  let t: ListTest;
  before(async () => {
    t = await startListTest();
  });
  after(() => t.gateway.stop());

  describe('of old', () => {
    let shop: Shop;
    let url: string;
    before(async () => {
      shop = await openShop(t.gateway);
      url = `/v1/merchants/${shop.merchant.id}/payments`;
      await t.oneOfEach(shop);
      await t.add(shop, 'just fits', String(2 ** 31 - 1));
      await t.add(shop, 'too much', String(2 ** 31));
    });
    const old = async (query: Query = {}) => {
      const response = await t.ask(url, { 'x-api-key': shop.secret }, query);
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
        settlement_status: 'pending',
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
      const poor = await openShop(t.gateway);
      const at = `/v1/merchants/${poor.merchant.id}/payments`;
      const revenue = async () => (await t.ask(at, poor.headers)).json().stats.total_revenue;
      assert.deepEqual(await revenue(), { amount: 0, currency: 'USD' });
      await t.pay(await t.add(poor, 'dollars', '100'));
      await t.pay(await t.add(poor, 'euros', '250', 'iso4217/EUR'));
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
      assert.deepEqual(references(await old({ token_symbol: 'usdc' })), ['declined', 'paid', 'signed']);
      assert.deepEqual(references(await old({ referenceId: 'PAID' })), ['paid']);
      assert.deepEqual(references(await old({ search: 'paid' })), ['paid']);
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
        [{ reference_id: 'paid' }, 'reference_id'],
      ] as [Query, string][]) {
        assert.deepEqual(fields(await t.refused(shop, query, url)), [field]);
      }
    });

    it('say where to go instead, and take either name of the key', async () => {
      for (const headers of [{ 'x-api-key': shop.secret }, { 'api-key': shop.secret }] as Headers[]) {
        for (const query of [{}, { limit: 0 }] as Query[]) {
          const response = await t.ask(url, headers, query);
          assert.equal(response.headers.deprecation, '@1771372800');
          assert.equal(response.headers.link, '</v1/merchants/payments>; rel="successor-version"');
        }
      }
      const current = await t.ask('/v1/merchants/payments', shop.headers);
      assert.equal(current.headers.deprecation, undefined);
    });
  });
});
