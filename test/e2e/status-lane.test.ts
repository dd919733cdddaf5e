import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { revokeKey } from '../../src/actions/parties/issue-key.ts';
import { createTestMerchant, startTestGateway, type TestGateway } from '../gateway.ts';
import { manualTime } from '../manual-time.ts';
import { listen } from '../sockets.ts';
import { happen, openShop, type Shop } from './shop.ts';

/**
 * Requests that are injected pass the framework, those over a socket take the lane before it when they are plain. Both
 * must not differ in anything a client can see.
 */
describe('a plain status request', () => {
  let gateway: TestGateway;
  let shop: Shop;
  let origin: string;

  before(async () => {
    gateway = await startTestGateway();
    shop = await openShop(gateway);
    origin = `http://127.0.0.1:${await listen(gateway)}`;
  });
  after(() => gateway.stop());

  /** Headers that Node adds, or whose value is another one on each request. */
  const VARYING = ['date', 'connection', 'keep-alive', 'request-id'];

  async function bothWays(path: string, headers = shop.headers) {
    const injected = await gateway.call({ url: path, headers });
    const sent = await fetch(origin + path, { headers });
    const text = await sent.text();
    assert.equal(sent.status, injected.statusCode);
    assert.equal(text, injected.body);
    const names = (list: Iterable<string>) =>
      [...list].filter((name) => !['date', 'connection', 'keep-alive'].includes(name)).sort();
    assert.deepEqual(names(sent.headers.keys()), names(Object.keys(injected.headers)));
    for (const [name, value] of sent.headers)
      if (!VARYING.includes(name)) assert.equal(value, injected.headers[name], name);
    return { status: sent.status, body: JSON.parse(text) };
  }

  it('gets the same answer over a socket as from the route, whatever the status', async () => {
    const open = await shop.created();
    assert.equal((await bothWays(`/v1/payments/${open.paymentId}/status`)).body.status, 'requires_action');
    for (const end of ['succeeded', 'failed', 'declined'] as const) {
      const { paymentId } = await shop.created();
      await happen(gateway, paymentId, 'confirmed');
      assert.equal((await bothWays(`/v1/payments/${paymentId}/status`)).body.status, 'processing');
      await happen(gateway, paymentId, end);
      assert.equal((await bothWays(`/v1/payments/${paymentId}/status`)).body.isFinal, true);
    }
    await shop.cancel(open.paymentId);
    assert.equal((await bothWays(`/v1/payments/${open.paymentId}/status`)).body.status, 'cancelled');
  });

  it('is counted once, under its route', async () => {
    const { paymentId } = await shop.created();
    const counted = () =>
      /till_http_request_seconds_count\{method="GET",route="\/v1\/payments\/:id\/status",status="200"\} (\d+)/.exec(
        gateway.metrics.requestTimes.text(),
      )?.[1] ?? '0';
    const earlier = Number(counted());
    await fetch(`${origin}/v1/payments/${paymentId}/status`, { headers: shop.headers });
    assert.equal(Number(counted()), earlier + 1);
  });

  it('is refused in the same words', async () => {
    const { paymentId } = await shop.created();
    const path = `/v1/payments/${paymentId}/status`;
    const other = await createTestMerchant(gateway, { 'api-key': shop.secret });
    assert.equal((await bothWays(path, { ...shop.headers, 'merchant-id': other.id })).body.code, 'payment_not_found');
    assert.equal((await bothWays(path, { ...shop.headers, 'pay-version': 'soon' })).body.code, 'invalid_api_version');
    assert.equal(
      (await bothWays(path, { ...shop.headers, 'pay-version': '2020-01-01' })).body.code,
      'api_version_downgrade',
    );
    assert.equal((await bothWays(path, { 'merchant-id': shop.merchant.id })).body.code, 'missing_api_key');
    assert.equal((await bothWays(path, { 'api-key': shop.secret })).body.code, 'missing_merchant_id');
    assert.equal((await bothWays(`${path.replace('pay_', 'PAY_')}`)).body.code, 'payment_not_found');
  });

  it('is let in however its headers are spelled, and with what wallets send beside them', async () => {
    const { paymentId } = await shop.created();
    const path = `/v1/payments/${paymentId}/status`;
    const spelled = {
      'API-KEY': shop.secret,
      'Merchant-ID': shop.merchant.id,
      'Sdk-Name': 'pos',
      'sdk-version': '1.2.3',
    };
    const answer = await fetch(origin + path, { headers: { ...spelled, 'Request-Id': 'mine-7' } });
    assert.deepEqual([answer.status, answer.headers.get('request-id')], [200, 'mine-7']);
    assert.equal((await bothWays(path, { ...shop.headers, 'sdk-name': 'café' })).body.code, 'header_not_ascii');
  });

  it('is not taken for another that it spells alike', async () => {
    const { paymentId } = await shop.created();
    const path = `/v1/payments/${paymentId}/status`;
    const version = '2026-02-18';
    assert.equal((await bothWays(path, { ...shop.headers, 'pay-version': version })).status, 200);
    const [key, merchantId] = [shop.secret, shop.merchant.id];
    const joined = { 'api-key': key, 'merchant-id': `${merchantId} ${version}` };
    assert.equal((await bothWays(path, joined)).body.code, 'merchant_not_found');
    const moved = { 'api-key': `${key} ${merchantId}`, 'merchant-id': version };
    assert.equal((await bothWays(path, moved)).body.code, 'invalid_api_key');
  });

  it('is refused as soon as its key is revoked', async () => {
    const time = manualTime();
    const node = await startTestGateway({ world: time });
    const own = await openShop(node);
    const url = `http://127.0.0.1:${await listen(node)}/v1/payments/${(await own.created()).paymentId}/status`;
    const ask = async () => (await fetch(url, { headers: own.headers })).status;
    const before = await ask();
    await revokeKey(node, { actor: 'test', keyId: own.key.id });
    await time.advance(5_000);
    const after = await ask();
    await node.stop();
    assert.deepEqual([before, after], [200, 401]);
  });

  it('tells the version it was asked in', async () => {
    const { paymentId } = await shop.created();
    const answer = await fetch(`${origin}/v1/payments/${paymentId}/status`, {
      headers: { ...shop.headers, 'wcp-version': '2026-02-19.preview' },
    });
    assert.equal(answer.headers.get('pay-version'), '2026-02-19.preview');
  });
});
