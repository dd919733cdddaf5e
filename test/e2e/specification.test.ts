import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createTestMerchant, freshKey, startTestGateway } from '../gateway.ts';
import { BASE_USDC, fields, type Json, type ListTest, startListTest } from './list-test.ts';
import { DESTINATION, INTERMEDIATE, openPayingShop, result, SANDBOX, USDC } from './paying-shop.ts';
import { BUYER, EVENTS, happen, ORDER, openShop, payer, type Shop } from './shop.ts';

const ROOT = join(import.meta.dirname, '../..');

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
    assert.deepEqual(await refusedFields({ token_symbol: BASE_USDC }), ['token_symbol[0]']);
    assert.deepEqual(await refusedFields({ asset: BASE_USDC }), ['asset[0]']);
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
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query: Record<string, string | number> = { limit: 40, ...(cursor !== '' && { cursor }) };
      const page: Json = (await t.ask('/v1/payments', { 'api-key': shop.secret }, query)).json();
      seen.push(...page.data.map((each: Json) => each.paymentId));
      cursor = page.nextCursor;
    }
    assert.ok(seen.length > 40, 'more than a page');
    assert.deepEqual(
      seen,
      data.map((each: Json) => each.paymentId),
    );
    const some = (await t.ask('/v1/payments', { 'api-key': shop.secret }, { referenceId: 'SECOND' })).json();
    assert.deepEqual(
      some.data.map((each: Json) => each.referenceId),
      ['SECOND-1'],
    );
  });

  it('takes the headers of SDKs, and does without them', async () => {
    const headers = { 'sdk-name': 'test', 'sdk-version': '1.2.3', 'sdk-platform': 'node' };
    assert.equal((await shop.create(ORDER, headers)).statusCode, 201);
    assert.equal((await shop.create(ORDER)).statusCode, 201);
  });

  it('shows the icons of the wallet and of the merchant in lists', async () => {
    const icons = await openShop(t.gateway);
    const iconUrl = 'https://shop.example/logo.png';
    const url = `/v1/merchants/${icons.merchant.id}`;
    await t.gateway.call({ method: 'PATCH', url, headers: icons.headers, payload: { iconUrl } });
    const { paymentId } = await icons.created();
    const buyer = { ...BUYER, icon: 'https://wallet.example/icon.png' };
    await t.gateway.movePayment({ paymentId, event: { ...EVENTS.confirmed, buyer }, actor: 'test', evidence: {} });
    const [item] = (await t.listed(icons)).data;
    assert.deepEqual(item.merchant, { id: icons.merchant.id, name: 'Test shop', iconUrl });
    const shown = {
      accountCaip10: BUYER.account,
      accountProviderName: 'Wallet',
      accountProviderIcon: 'https://wallet.example/icon.png',
    };
    assert.deepEqual(item.buyer, shown);
    const info = (await payer(t.gateway, icons.headers).info(paymentId)).json();
    assert.deepEqual(info.buyer, shown, 'the payer’s page has it in the same form');
  });

  it('lists merchants with their logo, and an e-mail address only if there is one', async () => {
    const own = await openShop(t.gateway);
    const iconUrl = 'https://shop.example/logo.png';
    const other = await createTestMerchant(t.gateway, own.headers, { iconUrl, merchantName: 'With a logo' });
    assert.ok(!('iconUrl' in other));
    await t.gateway.db.sql`update merchants set email = null where id = ${own.merchant.id}`;
    const { merchants } = (await t.ask('/v1/merchants', { 'api-key': own.secret })).json();
    const shown = new Map(merchants.map((each: Json) => [each.name, [each.email, each.iconUrl]]));
    assert.deepEqual(shown.get('With a logo'), ['shop@example.com', iconUrl]);
    assert.deepEqual(shown.get('Test shop'), [null, null]);
  });

  it('says of each status whether it is final, when to poll, why it failed and how it was paid', async () => {
    const { paymentId: overdue } = await shop.created({ expiresAt: Math.floor(t.time.clock.nowMs() / 1000) + 1 });
    const { paymentId: cancelled } = await shop.created();
    await shop.cancel(cancelled);
    const ids: Record<string, string> = { expired: overdue, cancelled };
    for (const [status, events] of [
      ['requires_action', []],
      ['processing', ['confirmed']],
      ['succeeded', ['confirmed', 'succeeded']],
      ['failed', ['confirmed', 'declined']],
    ] as const) {
      ids[status] = (await shop.created()).paymentId;
      await happen(t.gateway, ids[status], ...events);
    }
    await t.time.advance(2_000);
    const wallet = payer(t.gateway, { 'api-key': shop.secret });
    for (const [status, id] of Object.entries(ids)) {
      const isFinal = !['requires_action', 'processing'].includes(status);
      for (const answer of [await shop.status(id), await wallet.status(id)]) {
        const body = answer.json();
        assert.deepEqual([body.status, body.isFinal], [status, isFinal]);
        assert.equal(body.pollInMs === null, isFinal, status);
        if (!isFinal) assert.ok(Number.isInteger(body.pollInMs) && body.pollInMs >= 0);
      }
      for (const answer of [await shop.status(id), await wallet.status(id), await shop.details(id)]) {
        const body = answer.json();
        assert.equal(body.status, status);
        assert.equal('failureCode' in body, status === 'failed');
        if (status === 'failed') assert.equal(body.failureCode, 'declined_user');
        if (status === 'succeeded') assert.deepEqual(Object.keys(body.info).sort(), ['optionAmount', 'txId']);
        else assert.equal(body.info, null, status);
      }
      assert.equal((await shop.details(id)).json().referenceId, 'ORDER-42');
    }
  });

  it('reads details and statuses with or without the optional headers', async () => {
    const { paymentId } = await shop.created();
    const optional = {
      'pay-version': '2026-02-18',
      'sdk-name': 'test',
      'sdk-version': '1.2.3',
      'sdk-platform': 'node',
      'idempotency-key': 'x'.repeat(300),
    };
    const empty = Object.fromEntries(Object.keys(optional).map((name) => [name, '']));
    const asWallet = (id: string, headers = shop.headers) => payer(t.gateway, headers).status(id);
    for (const read of [shop.details, shop.status, asWallet]) {
      const plain = await read(paymentId);
      assert.equal(plain.statusCode, 200);
      assert.equal((await read(paymentId, { ...shop.headers, ...optional })).body, plain.body);
      assert.equal((await read(paymentId, { ...shop.headers, ...empty })).body, plain.body);
    }
  });

  it('no longer settles payments in an asset whose destination was removed', async () => {
    const paying = await openPayingShop();
    try {
      const { shop: merchant, gateway } = paying;
      const url = `/v1/merchants/${merchant.merchant.id}/settlements/crypto`;
      const settlements = [{ asset: USDC, destination: `${SANDBOX}:${DESTINATION}` }];
      const headers = { ...merchant.headers, 'idempotency-key': freshKey() };
      const registered = await gateway.call({ method: 'POST', url, headers, payload: { settlements } });
      assert.equal(registered.statusCode, 201, registered.body);
      const recipient = async () => {
        const someone = paying.newPayer({ [USDC]: 100_000_000n });
        const id = await paying.created();
        const option = await paying.wallet.option(id, someone.account, USDC);
        const confirmed = await paying.wallet.confirm(id, option.id, [result(await someone.sign(option))]);
        assert.equal(confirmed.statusCode, 200, confirmed.body);
        const [item] = await paying.items(id);
        return [item?.recipient, item?.isHeld];
      };
      assert.deepEqual(await recipient(), [DESTINATION, false]);
      const [{ id }] = registered.json().settlements;
      const removed = await gateway.call({ method: 'DELETE', url: `${url}/${id}`, headers: merchant.headers });
      assert.deepEqual(removed.json(), { id, deleted: true });
      await paying.time.advance(5_000);
      assert.deepEqual(await recipient(), [INTERMEDIATE, true]);
    } finally {
      await paying.gateway.stop();
    }
  });

  it('answers in JSON, and takes nothing else', async () => {
    const good = await shop.create();
    const bad = await shop.create({});
    const other = await shop.create(JSON.stringify(ORDER), { 'content-type': 'text/plain' });
    const merchant = await t.gateway.call({
      method: 'POST',
      url: '/v1/merchants',
      headers: { ...shop.headers, 'idempotency-key': freshKey(), 'content-type': 'text/plain' },
      payload: JSON.stringify({ merchantName: 'Shop', merchantEmail: 'shop@example.com' }),
    });
    const unknown = await t.gateway.call({ url: '/v1/nothing', headers: shop.headers });
    const answers = [good, bad, other, merchant, unknown];
    assert.deepEqual(
      answers.map(({ statusCode }) => statusCode),
      [201, 400, 415, 415, 404],
    );
    for (const { headers, body } of answers) {
      assert.match(String(headers['content-type']), /^application\/json/);
      assert.equal(typeof JSON.parse(body), 'object');
    }
  });

  it('answers an invalid creation with 400 and an invalid key with 401, both with the error body', async () => {
    const answers = [await shop.create({ ...ORDER, amount: undefined }), await shop.create(ORDER, { 'api-key': 'x' })];
    assert.deepEqual(
      answers.map((answer) => [answer.statusCode, answer.json().code, typeof answer.json().message]),
      [
        [400, 'params_validation', 'string'],
        [401, 'invalid_api_key', 'string'],
      ],
    );
  });

  it('has no use for the codes of customers and wallets, and lets merchants share their name and address', async () => {
    const fields = { merchantName: 'Twin', merchantEmail: 'twin@shop.example' };
    const [one, two] = [
      await createTestMerchant(t.gateway, shop.headers, fields),
      await createTestMerchant(t.gateway, shop.headers, fields),
    ];
    assert.notEqual(one.id, two.id);
    const { paths } = (await t.gateway.call({ url: '/openapi.json' })).json();
    const described = JSON.stringify(paths);
    const names = globSync('src/**/*.ts', { cwd: ROOT }).filter((name) => name !== join('src', 'errors.ts'));
    for (const code of ['merchant_exists', 'customer_not_found', 'wallet_not_found']) {
      assert.ok(!described.includes(code), code);
      const users = names.filter((name) => readFileSync(join(ROOT, name), 'utf8').includes(code));
      assert.deepEqual(users, [], `${code} is in the catalogue alone, so nothing can answer with it`);
    }
    assert.ok(described.includes('`already_refunded`'), 'a code that is in use is described');
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
