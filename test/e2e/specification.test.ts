import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestMerchant, startTestGateway } from '../gateway.ts';
import { BASE_USDC, fields, type ListTest, startListTest } from './list-test.ts';
import { ORDER, openShop, type Shop } from './shop.ts';

describe('the specification', () => {
  let t: ListTest;
  let shop: Shop;
  before(async () => {
    t = await startListTest();
    shop = await openShop(t.gateway);
  });
  after(() => t.gateway.stop());

  const refusedFields = async (query: Parameters<ListTest['refused']>[1]) => fields(await t.refused(shop, query));

  it('has fifty payments on a page unless the limit says otherwise, from 1 to 200', async () => {
    for (let count = 0; count < 51; count += 1) await shop.created({ referenceId: `LIMIT-${count}` });
    assert.equal((await t.listed(shop, {})).data.length, 50);
    assert.equal((await t.listed(shop, { limit: 200 })).data.length, 51);
    assert.equal((await t.listed(shop, { limit: 1 })).data.length, 1);
    for (const limit of [0, 201, -1]) assert.deepEqual(await refusedFields({ limit }), ['limit']);
  });

  it('searches references by 3 to 35 characters of its own alphabet', async () => {
    const referenceId = 'Az 09/:.,+-';
    await shop.created({ referenceId });
    const found = await t.listed(shop, { referenceId });
    assert.deepEqual(
      found.data.map((each: { referenceId: string }) => each.referenceId),
      [referenceId],
    );
    assert.equal((await t.listed(shop, { referenceId: 'A'.repeat(35) })).data.length, 0);
    for (const bad of ['Az', 'A'.repeat(36), 'ABC_', 'ABC%', 'ÄBC']) {
      assert.deepEqual(await refusedFields({ referenceId: bad }), ['referenceId'], bad);
    }
  });

  it('takes the deprecated asset for token_symbol, and no CAIP-19 id as a symbol', async () => {
    await t.pay(await t.add(shop, 'SYMBOL-1'), { asset: BASE_USDC });
    const names = async (query: object) =>
      (await t.listed(shop, query as never)).data.map((each: { referenceId: string }) => each.referenceId);
    assert.deepEqual(await names({ token_symbol: 'USDC' }), ['SYMBOL-1']);
    assert.deepEqual(await names({ asset: 'USDC' }), ['SYMBOL-1']);
    assert.deepEqual(await refusedFields({ token_symbol: '' }), ['token_symbol[0]']);
    const body = await t.ask('/v1/merchants/payments', shop.headers, { token_symbol: BASE_USDC });
    assert.ok(body.statusCode === 400 || body.json().data.length === 0);
  });

  it('lists the payments of all merchants of the partner at GET /v1/payments', async () => {
    const second = await createTestMerchant(t.gateway, { 'api-key': shop.secret });
    const created = await t.gateway.call({
      method: 'POST',
      url: '/v1/payments',
      headers: { 'api-key': shop.secret, 'merchant-id': second.id },
      payload: { ...ORDER, referenceId: 'SECOND-1' },
    });
    assert.equal(created.statusCode, 201);
    const { data, nextCursor, stats } = (
      await t.ask('/v1/payments', { 'api-key': shop.secret }, { limit: 200 })
    ).json();
    const merchants = new Set(data.map((each: { merchant: { id: string } }) => each.merchant.id));
    assert.deepEqual([merchants.has(second.id), merchants.has(shop.merchant.id)], [true, true]);
    assert.deepEqual([nextCursor, stats.totalTransactions], [null, data.length]);
  });

  it('takes the headers of SDKs, and does without them', async () => {
    const headers = { 'sdk-name': 'test', 'sdk-version': '1.2.3', 'sdk-platform': 'node' };
    assert.equal((await shop.create(ORDER, headers)).statusCode, 201);
    assert.equal((await shop.create(ORDER)).statusCode, 201);
  });

  it('answers an internal failure of a creation with 500 and the error body', async () => {
    const gateway = await startTestGateway();
    try {
      const broken = await openShop(gateway);
      await gateway.db.sql.unsafe('alter table payments rename to lost_payments');
      const response = await broken.create(ORDER);
      const { code, message } = response.json();
      assert.deepEqual([response.statusCode, code, typeof message], [500, 'internal_error', 'string']);
      assert.doesNotMatch(message, /payments|relation|sql/i);
    } finally {
      await gateway.stop();
    }
  });
});
