import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { x402Client as axiosClient, wrapAxiosWithPayment } from '@x402/axios';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch';
import axios from 'axios';
import { encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { PaidRequest } from '../../sdk/src/paywall.ts';
import { createTill } from '../../sdk/src/till.ts';
import { onlyLongIf } from '../long.ts';
import { until } from '../until.ts';
import { type Sandbox, startSandbox } from '../wallet-sdk/sandbox.ts';

const NETWORK = 'eip155:31337';
const TEN = 10_000_000n;
const WITHIN = { withinMs: 40_000 };
const TOKEN = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);

/** The published clients of x402, as they are. */
describe('an agent with a published x402 client', { concurrency: 4 }, () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await startSandbox();
  });
  after(() => sandbox?.stop());

  const urlOf = (paymentId: string) => `${sandbox.baseUrl}/x402/${paymentId}`;

  async function createAgent(symbol: string, units: bigint): Promise<PrivateKeyAccount> {
    const account = privateKeyToAccount(generatePrivateKey());
    const bank = await sandbox.createWallet({ [symbol]: units, ETH: 10n ** 17n });
    const to = addressOf(symbol);
    const data = encodeFunctionData({
      abi: parseAbi(['function transfer(address to, uint256 value)']),
      args: [account.address, units],
    });
    await bank.send({ to, data });
    return account;
  }

  const addressOf = (symbol: string) => sandbox.assetOf(symbol).split('erc20:')[1] as Hex;

  function clientOf(account: PrivateKeyAccount): x402Client {
    // The tokens of the sandbox are none that the client knows by itself.
    const schemes = [{ network: NETWORK, client: new ExactEvmScheme(account) } as const];
    return x402Client.fromConfig({ schemes, spendControls: false });
  }

  /** The answer of a payment that the client has carried out. */
  async function checkPaid(symbol: string, account: PrivateKeyAccount, paymentId: string, header: string | null) {
    const settled = decodePaymentResponseHeader(header ?? '');
    assert.deepEqual(
      [settled.success, settled.payer, settled.network, settled.amount],
      [true, account.address, NETWORK, TEN.toString()],
    );
    assert.equal((await sandbox.receiptOf(settled.transaction)).status, 'success');
    assert.equal(await sandbox.balanceOf(symbol, account.address), 5n);
    const succeeded = async () =>
      (await sandbox.call<{ status: string }>('GET', `/v1/payments/${paymentId}/status`)).status === 'succeeded';
    await until(`${paymentId} has succeeded`, succeeded, WITHIN);
  }

  for (const [symbol, unit] of [
    ['USDC', 'iso4217/USD'],
    ['EURC', 'iso4217/EUR'],
  ] as const) {
    it(`pays in ${symbol} by @x402/fetch`, async () => {
      const account = await createAgent(symbol, TEN + 5n);
      const { paymentId } = await sandbox.createPayment(unit, '1000');
      const pay = wrapFetchWithPayment(fetch, clientOf(account));
      const answer = await pay(urlOf(paymentId));
      assert.equal(answer.status, 200, await answer.clone().text());
      await checkPaid(symbol, account, paymentId, answer.headers.get('payment-response'));
      // The same agent asks again, and is not asked to pay again.
      const again = await pay(urlOf(paymentId));
      assert.deepEqual([again.status, ((await again.json()) as { status: string }).status], [200, 'succeeded']);
      assert.equal(await sandbox.balanceOf(symbol, account.address), 5n);
    });

    it(`pays in ${symbol} by @x402/axios`, onlyLongIf(symbol !== 'USDC'), async () => {
      const account = await createAgent(symbol, TEN + 5n);
      const { paymentId } = await sandbox.createPayment(unit, '1000');
      const client = new axiosClient().register(NETWORK, new ExactEvmScheme(account) as never);
      const answer = await wrapAxiosWithPayment(axios.create(), client).get(urlOf(paymentId));
      assert.equal(answer.status, 200);
      await checkPaid(symbol, account, paymentId, answer.headers['payment-response']);
    });
  }

  /** Asks, and signs as the client does. The header is sent by the test. */
  async function signed(account: PrivateKeyAccount, paymentId: string) {
    const http = new x402HTTPClient(clientOf(account));
    const asked = await fetch(urlOf(paymentId));
    assert.equal(asked.status, 402);
    const required = http.getPaymentRequiredResponse((name) => asked.headers.get(name));
    const payload = await http.createPaymentPayload(required);
    const headers = http.encodePaymentSignatureHeader(payload);
    return { payload, present: () => fetch(urlOf(paymentId), { headers }) };
  }

  it('gets the same answer for the same signature, however often and at once', async () => {
    const account = await createAgent('USDC', TEN + 5n);
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '1000');
    const { present } = await signed(account, paymentId);
    const answers = await Promise.all([present(), present(), present()]);
    const receipts = await Promise.all(
      [...answers, await present()].map(async (answer) => [answer.status, answer.headers.get('payment-response')]),
    );
    assert.equal(receipts[0]?.[0], 200);
    for (const receipt of receipts) assert.deepEqual(receipt, receipts[0]);
    await checkPaid('USDC', account, paymentId, receipts[0]?.[1] as string);
  });

  describe('at routes behind a paywall of the client library', () => {
    let site: Server;
    let origin: string;
    const served: string[] = [];
    const servedAt = (path: string) => served.filter((each) => each === path).length;
    before(async () => {
      const till = createTill(sandbox);
      const amount = { unit: 'iso4217/USD', value: '1000' };
      const paywall = till.paywall({ amount, description: 'The weather of today' });
      const patient = till.paywall({ amount, until: 'final' });
      const once = till.paywall({ amount, uses: 1 });
      const serve = async (request: Request, { paymentId }: PaidRequest) => {
        const { pathname } = new URL(request.url);
        served.push(pathname);
        return new Response(`${pathname} for ${paymentId}${await request.text()}`, { status: 203 });
      };
      const handlers: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
        final: patient.protect(serve),
        wrapped: paywall.protect(serve),
        'wrapped-once': once.protect(serve),
      };
      site = createServer((request, response) => {
        const handle = handlers[request.url?.split('/')[1] ?? ''];
        if (handle !== undefined) return void answerBy(handle, request, response);
        const next = (error?: unknown) => {
          served.push(request.url ?? '');
          response.statusCode = error === undefined ? 200 : 500;
          response.end(error === undefined ? `The weather of ${request.url}` : String(error));
        };
        if (request.url === '/unparsed') return void paywall.middleware(request, response, next);
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const parsed = Object.assign(request, { rawBody: Buffer.concat(chunks) });
          void (request.url === '/once' ? once : paywall).middleware(parsed, response, next);
        });
      });
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
      origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    });
    after(() => site?.close());

    async function answerBy(
      handle: (request: Request) => Promise<Response>,
      asked: IncomingMessage,
      out: ServerResponse,
    ) {
      const headers = new Headers(Object.entries(asked.headers).map(([name, value]) => [name, String(value)]));
      const chunks: Buffer[] = [];
      for await (const chunk of asked) chunks.push(chunk);
      const { method = 'GET' } = asked;
      const body = chunks.length === 0 ? null : Buffer.concat(chunks);
      const answer = await handle(new Request(`http://${asked.headers.host}${asked.url}`, { method, headers, body }));
      out.writeHead(answer.status, Object.fromEntries(answer.headers));
      out.end(await answer.text());
    }

    it('pays, and gets the answer of the route with the receipt', async () => {
      for (const [path, status] of [
        ['/weather?place=here', 200],
        ['/final/report', 203],
      ] as const) {
        const account = await createAgent('USDC', TEN + 5n);
        const pay = wrapFetchWithPayment(fetch, clientOf(account));
        // An answer of 503 says that the payment is under way, and the same header gets the resource later.
        const answer = await pay(`${origin}${path}`);
        assert.equal(answer.status, status, await answer.clone().text());
        assert.match(
          await answer.text(),
          status === 200 ? /^The weather of \/weather\?place=here$/ : /^\/final\/report for pay_/,
        );
        const { success, transaction } = decodePaymentResponseHeader(answer.headers.get('payment-response') ?? '');
        assert.equal(success, true);
        assert.equal((await sandbox.receiptOf(transaction)).status, 'success');
        assert.equal(await sandbox.balanceOf('USDC', account.address), 5n);
      }
    });

    it('pays for one route, and gets no other by the same payment', async () => {
      const account = await createAgent('USDC', TEN + 5n);
      const http = new x402HTTPClient(clientOf(account));
      const asked = await fetch(`${origin}/cheap`);
      assert.equal(asked.status, 402);
      const required = http.getPaymentRequiredResponse((name) => asked.headers.get(name));
      assert.deepEqual(required.resource, {
        url: `https://${new URL(origin).host}/cheap`,
        description: 'The weather of today',
      });
      const payload = await http.createPaymentPayload(required);
      const headers = http.encodePaymentSignatureHeader(payload);
      const first = await fetch(`${origin}/cheap`, { headers });
      assert.equal(first.status, 200);
      // The answer may have been lost: the payer repeats the request.
      assert.equal((await fetch(`${origin}/cheap`, { headers })).status, 200);
      assert.equal(servedAt('/cheap'), 2);
      for (const path of ['/dear', '/cheap?more', '/final/cheap']) {
        assert.equal((await fetch(`${origin}${path}`, { headers })).status, 402, path);
      }
      // Whoever reads the chain knows the signature and the payment, and not the ticket.
      const { ticket: _, ...extra } = payload.accepted.extra as Record<string, unknown>;
      for (const forged of [extra, { ...extra, ticket: '0'.repeat(32) }]) {
        const stolen = http.encodePaymentSignatureHeader({
          ...payload,
          accepted: { ...payload.accepted, extra: forged },
        });
        assert.equal((await fetch(`${origin}/cheap`, { headers: stolen })).status, 402);
      }
      for (const junk of ['%%%', 'bm8gSlNPTg==']) {
        assert.equal((await fetch(`${origin}/cheap`, { headers: { 'payment-signature': junk } })).status, 402);
      }
      assert.deepEqual([servedAt('/cheap'), servedAt('/dear'), servedAt('/final/cheap')], [2, 0, 0]);
    });

    /** Signs for the request, and returns the header of the payment. */
    async function paidFor(path: string, init: RequestInit = {}) {
      const http = new x402HTTPClient(clientOf(await createAgent('USDC', TEN + 5n)));
      const asked = await fetch(`${origin}${path}`, init);
      assert.equal(asked.status, 402, await asked.clone().text());
      const required = http.getPaymentRequiredResponse((name) => asked.headers.get(name));
      return http.encodePaymentSignatureHeader(await http.createPaymentPayload(required));
    }

    for (const [by, route] of [
      ['the middleware', '/orders'],
      ['a wrapped handler', '/wrapped/orders'],
    ] as const) {
      it(`pays ${by} for a method, a URL and a body, and gets nothing for others`, async () => {
        const order = { method: 'POST', body: '{"shares":1}' };
        const headers = await paidFor(route, order);
        for (const other of [
          { ...order, body: '{"shares":1000}' },
          { ...order, body: '{"shares":1} ' },
          { method: 'POST' },
          { ...order, method: 'PUT' },
          { method: 'GET' },
        ]) {
          assert.equal((await fetch(`${origin}${route}`, { ...other, headers })).status, 402, JSON.stringify(other));
        }
        const elsewhere = origin.replace('127.0.0.1', 'localhost');
        for (const url of [`${elsewhere}${route}`, `${origin}${route}/2`, `${origin}${route}?shares=1000`]) {
          assert.equal((await fetch(url, { ...order, headers })).status, 402, url);
        }
        assert.equal(servedAt(route), 0);
        const answer = await fetch(`${origin}${route}`, { ...order, headers });
        assert.ok(answer.ok, await answer.clone().text());
        if (by === 'a wrapped handler')
          assert.match(await answer.text(), /\{"shares":1\}$/, 'the handler reads the body');
        assert.equal(servedAt(route), 1);
      });
    }

    it('needs the body of a request to the middleware', async () => {
      const unparsed = await fetch(`${origin}/unparsed`, { method: 'POST', body: '{"shares":1}' });
      assert.deepEqual([unparsed.status, /needs the body/.test(await unparsed.text())], [500, true]);
    });

    for (const route of ['/once', '/wrapped-once']) {
      it(`is served as many times as the route ${route} allows`, async () => {
        const headers = await paidFor(route);
        assert.ok((await fetch(`${origin}${route}`, { headers })).ok);
        assert.equal((await fetch(`${origin}${route}`, { headers })).status, 402);
        assert.equal(servedAt(route), 1);
      });
    }
  });

  it('is refused with 64 KB of header, and can pay afterwards', async () => {
    const account = await createAgent('USDC', TEN + 5n);
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '1000');
    const headers = { 'payment-signature': 'A'.repeat(64 * 1024) };
    // The connection may be closed before all of it is sent.
    const status = await fetch(urlOf(paymentId), { headers }).then((answer) => answer.status, String);
    assert.ok(status === 431 || status === 'TypeError: fetch failed', `${status}`);
    const answer = await wrapFetchWithPayment(fetch, clientOf(account))(urlOf(paymentId));
    await checkPaid('USDC', account, paymentId, answer.headers.get('payment-response'));
  });

  it('is paid out all the same when a stranger presents the authorization first', async () => {
    const account = await createAgent('USDC', TEN + 5n);
    const { paymentId } = await sandbox.createPayment('iso4217/USD', '1000');
    const { payload, present } = await signed(account, paymentId);
    const { authorization, signature } = payload.payload as {
      authorization: Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>;
      signature: Hex;
    };
    const stranger = await sandbox.createWallet({ ETH: 10n ** 17n });
    const { r, s, yParity } = parseSignature(signature);
    const data = encodeFunctionData({
      abi: TOKEN,
      args: [
        authorization.from as Hex,
        authorization.to as Hex,
        BigInt(authorization.value),
        BigInt(authorization.validAfter),
        BigInt(authorization.validBefore),
        authorization.nonce as Hex,
        27 + yParity,
        r,
        s,
      ],
    });
    await stranger.send({ to: addressOf('USDC'), data });
    // Until the gateway has read the block of the transfer, it asks to come back.
    let answer = await present();
    const isTaken = async () => {
      if (answer.status === 503) answer = await present();
      return answer.status !== 503;
    };
    await until('the transfer is seen', isTaken, WITHIN);
    assert.equal(answer.status, 200, await answer.clone().text());
    await checkPaid('USDC', account, paymentId, answer.headers.get('payment-response'));
    const settled = async () =>
      (await sandbox.call<{ settlement: object | null }>('GET', `/v1/payments/${paymentId}`)).settlement !== null ||
      (await sandbox.balanceOf('USDC', authorization.to as Hex)) === 0n;
    await until('the address is swept', settled, WITHIN);
  });
});
