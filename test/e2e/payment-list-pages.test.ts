import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestMerchant } from '../gateway.ts';
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
import { openShop, type Shop } from './shop.ts';

describe('pages of payments', () => {
  let t: ListTest;
  before(async () => {
    t = await startListTest();
  });
  after(() => t.gateway.stop());

  describe('are sorted', () => {
    let shop: Shop;
    before(async () => {
      shop = await openShop(t.gateway);
      await t.add(shop, '10 dollars', '1000');
      await t.add(shop, '9 yen', '9', 'iso4217/JPY');
      await t.add(shop, '10.001 dinar', '10001', 'iso4217/KWD');
      await t.add(shop, '10 again', '1000');
      await t.add(shop, 'a millionth', '1', `caip19/${BASE_USDC}`);
      await t.add(shop, 'far less', '1', `caip19/${BSC_USDC}`);
      await t.add(shop, 'far more', '9'.repeat(78), 'iso4217/JPY');
      await t.add(shop, 'a wei less', `${'9'.repeat(59)}8${'9'.repeat(18)}`, `caip19/${MAINNET_ETH}`);
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
      const newest = (await t.listed(shop)).data.map((item: Json) => item.createdAt);
      assert.deepEqual(newest, newest.toSorted().toReversed());
      const of = async (query: Query) => references(await t.listed(shop, query));
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
        const whole = references(await t.listed(shop, { sortBy, sortDir }));
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
      const body: Json = await t.listed(shop, { ...query, ...(cursor && { cursor }) });
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
      shop = await openShop(t.gateway);
      second = await createTestMerchant(t.gateway, { 'api-key': shop.secret });
      for (const name of ['one', 'two', 'three']) await t.add(shop, name);
    });

    it('where the page ended, whatever was made meanwhile', async () => {
      const { data, nextCursor } = await t.listed(shop, { limit: 1 });
      assert.deepEqual(references({ data }), ['three']);
      await t.add(shop, 'four');
      const next = await t.listed(shop, { limit: 2, cursor: nextCursor });
      assert.deepEqual([references(next), next.nextCursor], [['two', 'one'], null]);
      assert.equal(next.stats.totalTransactions, 4, 'the statistics are of all pages');
    });

    it('with the same question in other words', async () => {
      const query = { status: 'succeeded,requires_action', startTs: '2026-01-01T00:00:00Z', limit: 1 };
      const { nextCursor } = await t.listed(shop, query);
      const same = {
        status: ['requires_action', 'succeeded'],
        startTs: '2026-01-01T01:00+01:00',
        limit: 3,
        sortBy: 'date',
      };
      assert.equal((await t.listed(shop, { ...same, cursor: nextCursor })).data.length, 3);
      const wide = await t.ask('/v1/payments', shop.headers, {
        ...same,
        merchantId: shop.merchant.id,
        cursor: nextCursor,
      });
      assert.equal(wide.json().data.length, 3);
    });

    it('with a time range that is computed anew for each page, as point-of-sale software does', async () => {
      for (const sortBy of ['date', 'amount']) {
        const whole = references(await t.listed(shop, { sortBy }));
        const found: string[] = [];
        let cursor: string | null | undefined;
        for (let page = 0; page < whole.length; page += 1) {
          const range = { startTs: `2026-01-01T00:00:0${page}Z`, endTs: `2126-01-01T00:00:0${page}Z` };
          const body: Json = await t.listed(shop, { ...range, sortBy, limit: 1, ...(cursor && { cursor }) });
          found.push(...references(body));
          cursor = body.nextCursor;
        }
        assert.deepEqual([found, cursor], [whole, null], sortBy);
      }
    });

    it('not with another question', async () => {
      const query = { status: 'requires_action', limit: 1 };
      const { nextCursor: cursor } = await t.listed(shop, query);
      const others: Query[] = [
        {},
        { status: 'succeeded' },
        { ...query, token_symbol: 'USDC' },
        { ...query, network: 'eip155:1' },
        { ...query, referenceId: 'one' },
        { ...query, sortBy: 'amount' },
        { ...query, sortDir: 'asc' },
      ];
      for (const other of others) {
        const { code, message } = await t.refused(shop, { ...other, cursor });
        assert.deepEqual([code, message.includes('cursor')], ['invalid_params', true], JSON.stringify(other));
      }
      const stranger = await openShop(t.gateway);
      for (const headers of [{ ...shop.headers, 'merchant-id': second.id }, stranger.headers]) {
        const response = await t.ask('/v1/merchants/payments', headers, { ...query, cursor });
        assert.deepEqual([response.statusCode, response.json().code], [400, 'invalid_params']);
      }
      assert.equal((await t.refused(shop, { ...query, cursor }, '/v1/payments')).code, 'invalid_params');
    });

    it('not from a cursor that was altered or made up', async () => {
      const { nextCursor } = await t.listed(shop, { limit: 1 });
      const altered = nextCursor.replace(/.$/, (last: string) => (last === 'A' ? 'B' : 'A'));
      for (const cursor of [altered, `${nextCursor}A`, nextCursor.slice(1), 'x', '!', '💥', 'A'.repeat(1024)]) {
        assert.equal((await t.refused(shop, { cursor })).code, 'invalid_params', cursor);
      }
      for (const cursor of ['', 'A'.repeat(1025)]) {
        assert.deepEqual(fields(await t.refused(shop, { cursor })), ['cursor']);
      }
    });
  });
});
