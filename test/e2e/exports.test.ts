import assert from 'node:assert/strict';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { refundIdOf } from '../../src/domain/ids.ts';
import { createTestKey, createTestMerchant } from '../gateway.ts';
import { until } from '../until.ts';
import { BASE_USDC, BSC_USDC, fields, type ListTest, type Query, references, startListTest } from './list-test.ts';
import { openShop, type Shop, TX_HASH } from './shop.ts';

const ADDRESS = '0x8ba1f109551bD432803012645Ac136ddd64DBA72';

describe('payments', () => {
  let t: ListTest;
  let shop: Shop;
  before(async () => {
    t = await startListTest();
    shop = await openShop(t.gateway);
  });
  after(() => t.gateway.stop());

  const found = async (search: string, more: Query = {}, as = shop) =>
    references(await t.listed(as, { search, ...more }));

  describe('are found by a search', () => {
    let paid: string;
    before(async () => {
      await t.add(shop, 'SEARCH-1');
      paid = await t.add(shop, 'SEARCH-2');
      await t.pay(paid, { account: `eip155:8453:${ADDRESS}` });
      const other = await t.add(shop, 'SEARCH-3');
      await t.pay(other, { account: `eip155:56:${ADDRESS.toLowerCase()}`, asset: BSC_USDC });
    });

    it('for a payment id, a link of the checkout, or a refund id', async () => {
      assert.deepEqual(await found(paid), ['SEARCH-2']);
      assert.deepEqual(await found(`${t.gateway.config.publicUrl}/?pid=${paid}`), ['SEARCH-2']);
      assert.deepEqual(await found(`${t.gateway.config.publicUrl}/c/${paid.slice(4)}`), ['SEARCH-2']);
      assert.deepEqual(await found(refundIdOf(paid, 3)), ['SEARCH-2']);
    });

    it('for a transaction, whatever its spelling', async () => {
      assert.deepEqual(await found(TX_HASH), ['SEARCH-3', 'SEARCH-2']);
      assert.deepEqual(await found(`0x${TX_HASH.slice(2).toUpperCase()}`), ['SEARCH-3', 'SEARCH-2']);
      assert.deepEqual(await found(`0x${'9'.repeat(64)}`), []);
    });

    it('for a payer, on one network or on all', async () => {
      assert.deepEqual(await found(ADDRESS), ['SEARCH-3', 'SEARCH-2']);
      assert.deepEqual(await found(ADDRESS.toLowerCase(), { sortBy: 'amount', sortDir: 'asc' }), [
        'SEARCH-2',
        'SEARCH-3',
      ]);
      assert.deepEqual(await found(`eip155:8453:${ADDRESS}`), ['SEARCH-2']);
      assert.deepEqual(await found(`eip155:10:${ADDRESS}`), []);
    });

    it('for a part of a reference, and with all other filters', async () => {
      assert.deepEqual(await found('ARCH-1'), ['SEARCH-1']);
      assert.deepEqual(await found(ADDRESS, { status: 'failed' }), []);
      assert.deepEqual(await found(ADDRESS, { network: 'eip155:56' }), ['SEARCH-3']);
      assert.deepEqual(await found('%_\\\'";'), []);
      assert.deepEqual(await found('😀😀😀'), []);
    });

    it('with totals and pages of their own', async () => {
      const first = await t.listed(shop, { search: ADDRESS, limit: 1 });
      assert.deepEqual(first.stats, {
        totalRevenue: [{ amount: 20, currency: 'USD' }],
        totalTransactions: 2,
        totalCustomers: 2,
      });
      const second = await t.listed(shop, { search: ADDRESS, limit: 1, cursor: first.nextCursor });
      assert.deepEqual([...references(first), ...references(second)], ['SEARCH-3', 'SEARCH-2']);
      await t.refused(shop, { search: 'SEARCH', cursor: first.nextCursor });
    });

    it('among those of the own merchants alone', async () => {
      const stranger = await openShop(t.gateway);
      for (const text of [paid, TX_HASH, ADDRESS, 'SEARCH']) assert.deepEqual(await found(text, {}, stranger), []);
      const sibling = await createTestMerchant(t.gateway, { 'api-key': shop.secret });
      const headers = { ...shop.headers, 'merchant-id': sibling.id };
      for (const text of [paid, TX_HASH, ADDRESS]) {
        assert.deepEqual(references(await t.listed(shop, { search: text }, headers)), []);
      }
    });

    it('unless the text is too short or has control characters', async () => {
      for (const search of ['ab', ' ab', 'ab\u0000c', 'x'.repeat(513)]) {
        assert.deepEqual(fields(await t.refused(shop, { search })), ['search'], search);
      }
      assert.deepEqual(fields(await t.refused(shop, { search: 'ORDER', referenceId: 'ORDER' })), ['search']);
    });
  });

  describe('are exported', () => {
    const exported = async (query: Query, as: Record<string, string>) => {
      const response = await t.ask('/v1/exports/payments', as, query);
      assert.equal(response.statusCode, 200, response.body);
      return response;
    };
    let seller: Shop;
    let key: Record<string, string>;
    before(async () => {
      seller = await openShop(t.gateway);
      key = { 'api-key': seller.secret };
    });

    it('as CSV, without formulas', async () => {
      const hostile = await createTestMerchant(t.gateway, key, {
        merchantName: '=HYPERLINK("http://x","y"), \u202e😀',
      });
      const paid = await t.add(seller, '+1-2');
      await t.pay(paid);
      await t.time.advance(1_000);
      await t.gateway.call({
        method: 'POST',
        url: '/v1/payments',
        headers: { ...key, 'merchant-id': hostile.id },
        payload: { amount: { unit: 'iso4217/JPY', value: '500' }, referenceId: '-cmd' },
      });
      const response = await exported({}, key);
      assert.match(String(response.headers['content-type']), /^text\/csv/);
      assert.match(
        String(response.headers['content-disposition']),
        /^attachment; filename="payments-\d{4}-\d\d-\d\d\.csv"$/,
      );
      const [head, first, second, end, ...rest] = response.body.split('\r\n');
      assert.equal(
        head,
        'paymentId,referenceId,merchantId,merchantName,status,amount,currency,tokenAmount,token,network,asset,payer,wallet,transactionHash,createdAt,statusChangedAt,expiresAt,acceptedAssets,lateMoney',
      );
      assert.ok(
        first?.startsWith(
          `${paid},"'+1-2",${seller.merchant.id},"Test shop",succeeded,10.00,USD,10.000000,USDC,eip155:8453,${BASE_USDC},`,
        ),
        first,
      );
      assert.ok(
        second?.includes(`"'-cmd",${hostile.id},"'=HYPERLINK(""http://x"",""y""), \u202e😀",requires_action,500,JPY,`),
      );
      assert.equal(end, '');
      assert.deepEqual(rest, []);
    });

    it('as JSON Lines, with every filter', async () => {
      const lines = async (query: Query) =>
        (await exported({ format: 'jsonl', ...query }, key)).body
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line));
      const all = await lines({});
      assert.deepEqual(
        all.map(({ referenceId }) => referenceId),
        ['+1-2', '-cmd'],
      );
      assert.deepEqual([all[1].token, all[1].payer, all[1].amount, all[1].currency], [null, null, '500', 'JPY']);
      assert.equal((await lines({ status: 'succeeded' })).length, 1);
      assert.equal((await lines({ token_symbol: 'ETH' })).length, 0);
      assert.equal((await lines({ search: all[0].paymentId })).length, 1);
      assert.equal((await lines({ merchantId: seller.merchant.id })).length, 1);
      assert.equal((await lines({ merchantId: shop.merchant.id })).length, 0);
      const limited = await createTestKey(t.gateway, seller.partner.id, { key: { merchantIds: [seller.merchant.id] } });
      const own = await exported({ format: 'jsonl' }, { 'api-key': limited.secret });
      assert.equal(own.body.trim().split('\n').length, 1);
    });

    it('to the last one, in pages that nobody sees', async () => {
      const busy = await openShop(t.gateway);
      const ids = new Set<string>();
      // More than the first page has.
      while (ids.size < 1_200) {
        const made = await Promise.all(Array.from({ length: 100 }, () => busy.created()));
        for (const { paymentId } of made) ids.add(paymentId);
      }
      const { body } = await exported({ format: 'jsonl' }, { 'api-key': busy.secret });
      const seen = body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).paymentId as string);
      assert.equal(seen.length, ids.size);
      assert.deepEqual(new Set(seen), ids);
      assert.deepEqual(seen, seen.toSorted());
      const csv = await exported({}, { 'api-key': busy.secret });
      assert.equal(csv.body.trim().split('\r\n').length, ids.size + 1);
    });

    it('one at a time, and a client that leaves makes room', async () => {
      await t.gateway.app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = t.gateway.app.server.address() as AddressInfo;
      const { lists } = t.gateway;
      // Another export of the key, which is under way.
      const reply = { header: () => reply } as never;
      const running = lists.beginExport(seller.key, reply);
      const refused = await t.ask('/v1/exports/payments', key);
      assert.equal(refused.statusCode, 429, refused.body);
      assert.ok(Number(refused.headers['retry-after']) > 0);
      running.end();
      await exported({}, key);
      // An end that is told twice is not the end of the next export.
      const next = lists.beginExport(seller.key, reply);
      running.end();
      assert.throws(() => lists.beginExport(seller.key, reply), { code: 'rate_limited' });
      next.end();

      const request = get({ port, path: '/v1/exports/payments', headers: key });
      request.on('response', (response) => response.destroy());
      await new Promise((resolve) => request.on('close', resolve));
      await until('the place is free', async () => {
        const answer = await t.ask('/v1/exports/payments', key);
        return answer.statusCode === 200;
      });
    });

    it('and a client that leaves before the first page is read makes room, too', async () => {
      const { port } = t.gateway.app.server.address() as AddressInfo;
      const { lists } = t.gateway;
      const reply = { header: () => reply } as never;
      const held = Promise.withResolvers<void>();
      // All places for lists are taken, so the export waits for one.
      const others = Array.from({ length: 16 }, (_, index) => lists.read(`other ${index}`, reply, () => held.promise));
      const request = get({ port, path: '/v1/exports/payments', headers: key });
      request.on('error', () => {});
      await until('the export has begun', async () => {
        try {
          lists.beginExport(seller.key, reply).end();
          return false;
        } catch {
          return true;
        }
      });
      const left = new Promise((resolve) => request.on('close', resolve));
      request.destroy();
      await left;
      await new Promise((resolve) => setImmediate(resolve));
      held.resolve();
      await Promise.all(others);
      await until('the place is free', async () => (await t.ask('/v1/exports/payments', key)).statusCode === 200);
    });

    it('but not with bad filters, and the refusal takes no place', async () => {
      for (const [query, field] of [
        [{ format: 'xls' }, 'format'],
        [{ content: 'all' }, 'content'],
        [{ startTs: 'yesterday' }, 'startTs'],
        [{ search: 'ORDER', referenceId: 'ORDER' }, 'search'],
      ] as const) {
        const response = await t.ask('/v1/exports/payments', key, query);
        assert.equal(response.statusCode, 400);
        assert.deepEqual(fields(response.json()), [field]);
      }
      await exported({ content: 'bookkeeping' }, key);
    });
  });
});
