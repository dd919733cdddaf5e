import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { sign } from '../../sdk/src/webhooks.ts';
import { fanOutOnce } from '../../src/actions/webhooks/fan-out.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { startTestGateway } from '../gateway.ts';
import { manualTime } from '../manual-time.ts';
import { until } from '../until.ts';
import { standInPage } from './checkout-page.ts';
import { openPayingShop, type PayingShop, SANDBOX } from './paying-shop.ts';
import { newCourier, takeFanOut } from './webhook-scene.ts';

describe('the sandbox shop', () => {
  let outer: PayingShop;
  const asked: unknown[] = [];
  const rpc = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    asked.push(JSON.parse(text));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":"0x7a69"}');
  });
  const sandbox = { apiKey: '', merchantId: '', chainId: SANDBOX, rpcUrl: '' };
  before(async () => {
    await once(rpc.listen(0, '127.0.0.1'), 'listening');
    sandbox.rpcUrl = `http://127.0.0.1:${(rpc.address() as AddressInfo).port}`;
    outer = await openPayingShop({ page: standInPage(), sandbox });
    sandbox.apiKey = outer.shop.secret;
    sandbox.merchantId = outer.shop.merchant.id;
  });
  after(async () => {
    await outer.gateway.stop();
    rpc.close();
  });
  const open = (url: string, method: 'GET' | 'POST' = 'GET') => outer.gateway.app.inject({ url, method });

  it('has three products that can be bought without a script', async () => {
    const { statusCode, body, headers } = await open('/demo');
    assert.equal(statusCode, 200);
    assert.equal([...body.matchAll(/<form method="post" action="\/demo\/buy\/\w+">/g)].length, 3);
    assert.doesNotMatch(body, /<script|style=/);
    assert.match(String(headers['content-security-policy']), /form-action 'self' http:\/\/localhost:8080;/);
    const [, sheet = ''] = /<link rel="stylesheet" href="([^"]+)">/.exec(body) ?? [];
    assert.equal((await open(sheet)).headers['content-type'], 'text/css; charset=utf-8');
  });

  it('creates a payment and sends the payer to the checkout, which sends them back', async () => {
    for (const product of ['beans', 'mug', 'kettle']) {
      const bought = await open(`/demo/buy/${product}`, 'POST');
      assert.equal(bought.statusCode, 303, bought.body);
      const { pathname, search, searchParams } = new URL(String(bought.headers.location));
      const row = await outer.payment(searchParams.get('pid') ?? '');
      assert.equal(row.status, 'requires_action');
      assert.equal(row.success_url, `http://localhost:8080/demo/thanks?product=${product}`);
      assert.equal((await open(pathname + search)).statusCode, 200);
    }
    assert.equal((await open('/demo/buy/yacht', 'POST')).statusCode, 404);
  });

  it('believes the API, not the redirect', async () => {
    const id = await outer.created();
    const thanks = async (query: string) => open(`/demo/thanks?${query}`);
    const waiting = await thanks(`product=mug&payment_id=${id}`);
    assert.match(waiting.body, /One moment/);
    assert.match(waiting.body, /http-equiv="refresh"/);
    await outer.shop.cancel(id);
    assert.match((await thanks(`product=mug&payment_id=${id}`)).body, /The payment has ended/);
    for (const query of [
      '',
      'payment_id=pay_01H0000000000000000000000A',
      'payment_id=<script>',
      'payment_id=a&payment_id=b',
    ]) {
      const missing = await thanks(query);
      assert.equal(missing.statusCode, 404, query);
      assert.match(missing.body, /No such order/);
      assert.doesNotMatch(missing.body, /<script/);
    }
  });

  it('gets webhooks at its own address, and shows them, newest first', async () => {
    const { gateway, shop } = outer;
    await gateway.app.listen({ port: 0, host: '127.0.0.1' });
    const endpoints = async () =>
      (await gateway.call({ url: '/v1/webhook-endpoints', headers: shop.headers })).json().webhookEndpoints;
    await until('the shop has an endpoint', async () => (await endpoints()).length === 1);
    const { port } = gateway.app.server.address() as AddressInfo;
    assert.equal((await endpoints())[0].url, `http://127.0.0.1:${port}/demo/webhooks`);

    const id = await outer.created({ referenceId: '<script>' });
    await shop.cancel(id);
    const row = /<strong>([\w.]+)<\/strong><span class="faint"><a href="\/demo\/thanks\?payment_id=(\w+)">/g;
    const received = async () =>
      [...(await open('/demo/events')).body.matchAll(row)]
        .filter(([, , payment]) => payment === id)
        .map(([, type]) => type);
    assert.deepEqual(await received(), []);
    const lease = await takeFanOut(gateway);
    // Signatures carry the time of the machine.
    const courier = newCourier(gateway, { world: { clock: systemWorld.clock } });
    await until('the shop has got both webhooks', async () => {
      while (await fanOutOnce(gateway, lease));
      await courier.takeDue();
      await courier.idle();
      return (await received()).length === 2;
    });
    assert.deepEqual(await received(), ['payment.cancelled', 'payment.created']);
    const { statusCode, body } = await open('/demo/events');
    assert.equal(statusCode, 200);
    assert.doesNotMatch(body, /<script/);
    assert.match(body, /http-equiv="refresh"/);
  });

  it('gets webhooks on a machine that is too busy at the start', async () => {
    const time = manualTime();
    const busy = await startTestGateway({
      ...outer.wiring,
      world: time,
      databaseUrl: outer.gateway.databaseUrl,
      page: standInPage(),
      sandbox,
      config: { maxEventLoopDelayMs: 50 },
    });
    // One turn of ten seconds: every request is refused until the next turns have been on time.
    await time.advance(10_000);
    await busy.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = busy.app.server.address() as AddressInfo;
    assert.equal((await busy.app.inject({ url: '/v1/payments', headers: outer.shop.headers })).statusCode, 503);
    const isRegistered = async () => {
      const { body } = await outer.gateway.call({ url: '/v1/webhook-endpoints', headers: outer.shop.headers });
      return body.includes(`:${port}/demo/webhooks`);
    };
    await until('the shop has an endpoint', async () => {
      await time.advance(100);
      return isRegistered();
    });
    await busy.stop();
  });

  it('believes no webhook that the gateway has not signed', async () => {
    const event = {
      id: 'evt_1',
      type: 'payment.succeeded',
      createdAt: '2026-01-01',
      sequence: 1,
      data: { id: 'pay_forged' },
    };
    const payload = JSON.stringify(event);
    const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
    const signed = await sign({ id: event.id, body: payload, secret });
    for (const headers of [{}, signed, { ...signed, 'webhook-signature': 'v1,' }]) {
      const answer = await outer.gateway.app.inject({
        url: '/demo/webhooks',
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        payload,
      });
      assert.equal(answer.statusCode, 400);
    }
    assert.doesNotMatch((await open('/demo/events')).body, /pay_forged/);
  });

  it('passes reading and raw transactions on to the chain, and nothing else', async () => {
    const call = async (payload: unknown) =>
      outer.gateway.app.inject({ url: '/sandbox/rpc', method: 'POST', payload: payload as object });
    const good = await call({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
    assert.equal(good.json().result, '0x7a69');
    assert.equal(asked.length, 1);
    for (const method of [
      'eth_sendTransaction',
      'eth_accounts',
      'hardhat_setBalance',
      'evm_mine',
      'debug_traceCall',
      '',
    ]) {
      assert.equal((await call({ jsonrpc: '2.0', id: 7, method, params: [] })).json().error.code, -32601, method);
    }
    const mixed = await call([
      { jsonrpc: '2.0', id: 1, method: 'eth_chainId' },
      { jsonrpc: '2.0', id: 2, method: 'evm_mine' },
    ]);
    assert.equal(mixed.json().length, 2);
    assert.equal(asked.length, 1, 'nothing of a batch with something else in it');
    for (const body of [[], {}, [1], { method: 5 }, Array(21).fill({ method: 'eth_chainId' })]) {
      assert.equal((await call(body)).statusCode, 400, JSON.stringify(body).slice(0, 40));
    }
  });

  it('shows the chain: its blocks, and a transaction in words', async () => {
    const { chain } = outer.network();
    const head = await chain.reader.head();
    const blocks = await open('/sandbox/blocks');
    assert.equal(blocks.statusCode, 200, blocks.body);
    assert.match(blocks.body, new RegExp(`<a class="whole" href="/sandbox/blocks/${head.number}">`));
    const block = await open(`/sandbox/blocks/${head.number}`);
    assert.match(block.body, new RegExp(`<h1>Block ${head.number}</h1>`));
    assert.match(block.body, new RegExp(head.hash));
    for (const url of [`/sandbox/blocks/${head.number + 1}`, '/sandbox/blocks/x', '/sandbox/blocks/-1']) {
      assert.equal((await open(url)).statusCode, 404, url);
    }
    for (const query of ['newest=0', 'newest=99999', 'newest=x', 'newest=1&newest=2']) {
      assert.equal((await open(`/sandbox/blocks?${query}`)).statusCode, 200, query);
    }
    for (const hash of ['0x12', `0x${'ab'.repeat(32)}`, '<script>']) {
      const missing = await open(`/sandbox/tx/${encodeURIComponent(hash)}`);
      assert.equal(missing.statusCode, 404);
      assert.doesNotMatch(missing.body, /<script/);
    }
  });

  it('is there only in the sandbox', async () => {
    const plain = await openPayingShop();
    for (const url of ['/demo', '/demo/events', '/demo/thanks', '/sandbox/blocks', '/sandbox/rpc']) {
      assert.equal((await plain.gateway.app.inject({ url })).statusCode, 404, url);
    }
    await plain.gateway.stop();
  });
});
