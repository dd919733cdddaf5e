import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { foldStats } from '../../src/actions/paying/fold-stats.ts';
import { createTestKey } from '../gateway.ts';
import { BASE_USDC, BSC_USDC, fields, type ListTest, type Query, search, startListTest } from './list-test.ts';
import { type Headers, happen, openShop, type Shop } from './shop.ts';

describe('lists of payments', () => {
  let t: ListTest;
  before(async () => {
    t = await startListTest();
  });
  after(() => t.gateway.stop());

  describe('add up', () => {
    const statsOf = async (shop: Shop, query: Query = {}) => {
      const { body } = await t.ask('/v1/merchants/payments', shop.headers, query);
      return body.slice(body.indexOf('"stats":') + 8, -1);
    };
    /** From the totals, and from the rows. */
    const WAYS: Query[] = [
      {},
      { status: 'succeeded' },
      { startTs: '2026-01-01T00:00:00Z' },
      { network: 'eip155:8453' },
    ];

    it('the succeeded payments, exactly, by currency and token', async () => {
      const shop = await openShop(t.gateway);
      await t.pay(await t.add(shop, 'a', '10'));
      await t.pay(await t.add(shop, 'b', '20'));
      await t.pay(await t.add(shop, 'c', '1', 'iso4217/KWD'));
      await t.pay(await t.add(shop, 'd', '3', 'iso4217/JPY'));
      await t.pay(await t.add(shop, 'e', '1', `caip19/${BASE_USDC}`));
      await t.pay(await t.add(shop, 'f', '1', `caip19/${BSC_USDC}`));
      const revenue = [
        '{"amount":3,"currency":"JPY"}',
        '{"amount":0.001,"currency":"KWD"}',
        '{"amount":0.3,"currency":"USD"}',
        '{"amount":0.000001000000000001,"currency":"USDC"}',
      ];
      const expected = `{"totalRevenue":[${revenue.join()}],"totalTransactions":6,"totalCustomers":1}`;
      for (const query of WAYS) assert.equal(await statsOf(shop, query), expected, JSON.stringify(query));
      await foldStats(t.gateway);
      for (const query of WAYS) assert.equal(await statsOf(shop, query), expected, JSON.stringify(query));
    });

    it('without the customers, or nothing at all, if that is asked for', async () => {
      const shop = await openShop(t.gateway);
      await t.pay(await t.add(shop, 'a', '10'));
      const revenue = '"totalRevenue":[{"amount":0.1,"currency":"USD"}]';
      for (const query of WAYS) {
        assert.equal(await statsOf(shop, { ...query, stats: 'all' }), await statsOf(shop, query));
        assert.equal(await statsOf(shop, { ...query, stats: 'totals' }), `{${revenue},"totalTransactions":1}`);
        assert.equal(await statsOf(shop, { ...query, stats: 'none' }), '{}');
      }
    });

    it('without losing a digit of the largest amounts', async () => {
      const shop = await openShop(t.gateway);
      for (const name of ['a', 'b']) await t.pay(await t.add(shop, name, '9'.repeat(78), 'iso4217/JPY'));
      await t.pay(await t.add(shop, 'c', `1${'0'.repeat(76)}1`));
      const revenue = `{"amount":1${'9'.repeat(77)}8,"currency":"JPY"},{"amount":1${'0'.repeat(75)}.01,"currency":"USD"}`;
      for (const query of WAYS) {
        assert.equal(
          await statsOf(shop, query),
          `{"totalRevenue":[${revenue}],"totalTransactions":3,"totalCustomers":1}`,
        );
      }
    });

    it('every match, and each buyer once', async () => {
      const shop = await openShop(t.gateway);
      const other = 'eip155:8453:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';
      await t.pay(await t.add(shop, 'one'));
      await t.pay(await t.add(shop, 'two'));
      await t.pay(await t.add(shop, 'three'), { account: other });
      await happen(t.gateway, await t.add(shop, 'four'), 'confirmed', 'failed');
      await shop.cancel(await t.add(shop, 'five'));
      await t.add(shop, 'six');
      const totals = async (query: Query) => {
        const { totalTransactions, totalCustomers } = (await t.listed(shop, query)).stats;
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
      shop = await openShop(t.gateway);
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
      [{ token_symbol: '' }, 'token_symbol[0]', /must be the symbol of a token/],
      [{ token_symbol: 'X'.repeat(65) }, 'token_symbol[0]', /at most 64 characters/],
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
          const body = await t.refused(shop, query, url);
          assert.equal(body.code, 'params_validation');
          assert.deepEqual(fields(body), [field]);
          assert.match(body.issues[0].message, message);
        }
      });
    }

    it('all that is wrong at once', async () => {
      const body = await t.refused(shop, {
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
        const response = await t.ask(url, headers);
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
      const { secret } = await createTestKey(t.gateway, shop.partner.id, { key: { scopes: ['payments:write'] } });
      for (const url of ['/v1/merchants/payments', '/v1/payments', old]) {
        assert.deepEqual(await code(url, { ...shop.headers, 'api-key': secret }), [403, 'forbidden'], url);
      }
    });
  });

  it('are one route beside that of a merchant', async () => {
    const shop = await openShop(t.gateway);
    const response = await t.gateway.call({ method: 'DELETE', url: '/v1/merchants/payments', headers: shop.headers });
    assert.deepEqual([response.statusCode, response.headers.allow], [405, 'GET, HEAD']);
  });
});
