import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { recoverTypedDataAddress } from 'viem';
import { isLoopback, type LoopbackOnly, stayOnLoopback } from './loopback-only.ts';
import { createSdk, SDK_VERSIONS } from './sdk.ts';
import { createTestWallet } from './test-wallet.ts';

const PAYMENT_ID = 'pay_01H0000000000000000000000A';
const CHAIN_ID = 'eip155:31337';

/** Proves that the published SDK works here at all, by a server that knows one payment. */
describe('the wallet SDK against a stub', () => {
  let guard: LoopbackOnly;
  let server: Server;
  let baseUrl: string;
  let stub: Stub;
  before(async () => {
    guard = stayOnLoopback();
    stub = createStub();
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (piece) => {
        body += piece;
      });
      request.on('end', () => {
        const answer = stub.answer(request.url ?? '', request.headers, body);
        response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer ?? { code: 'payment_not_found', message: 'Payment not found' }));
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    guard.lift();
    server.close();
    server.closeAllConnections();
  });

  for (const version of Object.keys(SDK_VERSIONS)) {
    it(`${version} goes from options to confirm, by id and by gateway URL`, async () => {
      const wallet = createTestWallet({ rpcUrl: baseUrl, chainId: CHAIN_ID });
      for (const paymentLink of [PAYMENT_ID, `${baseUrl}/?pid=${PAYMENT_ID}`]) {
        const sdk = await createSdk({ version, baseUrl, appId: 'app_stub' });
        stub.payer = wallet.address;
        const { paymentId, options } = await sdk.getPaymentOptions({ paymentLink, accounts: [wallet.account] });
        const [option] = options;
        assert.ok(option);
        const actions = await sdk.getRequiredPaymentActions({ paymentId, optionId: option.id });
        const signatures = await wallet.answerAll(actions.map(({ walletRpc }) => walletRpc));
        const { status } = await sdk.confirmPayment({ paymentId, optionId: option.id, signatures });
        assert.equal(status, 'succeeded');
        const signature = signatures[0] as `0x${string}`;
        assert.equal(await recoverTypedDataAddress({ ...TYPED_DATA, signature }), wallet.address);
        assert.equal(stub.lastHeaders?.['app-id'], 'app_stub');
        assert.equal(stub.lastHeaders?.['sdk-version'], version);
      }
    });
  }

  it('is kept from telling anybody else', () => {
    assert.ok(guard.refusedHosts().size > 0, 'the SDK tried to');
    for (const host of guard.refusedHosts()) assert.ok(!isLoopback(host));
    assert.ok(guard.connectedHosts().size > 0);
    for (const host of guard.connectedHosts()) assert.ok(isLoopback(host), host);
  });
});

const TYPED_DATA = {
  domain: { name: 'USD Coin', version: '2', chainId: 31337, verifyingContract: `0x${'22'.repeat(20)}` },
  types: { Note: [{ name: 'value', type: 'uint256' }] },
  primaryType: 'Note',
  message: { value: 12_340_000n },
} as const;

/** The same as wallets see it: hex integers, and the domain's own type among the types. */
const TYPED_DATA_JSON = JSON.stringify({
  ...TYPED_DATA,
  domain: { ...TYPED_DATA.domain, chainId: '0x7a69' },
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    ...TYPED_DATA.types,
  },
  message: { value: '0xbc4b20' },
});

interface Stub {
  payer: string;
  lastHeaders: IncomingHttpHeaders | undefined;
  answer(url: string, headers: IncomingHttpHeaders, body: string): unknown;
}

function createStub(): Stub {
  return {
    payer: '',
    lastHeaders: undefined,
    answer(url, headers, body) {
      this.lastHeaders = headers;
      const [, reference = '', call] = /^\/v1\/gateway\/payment\/([^/]+)\/([a-z]+)/.exec(url) ?? [];
      // A link of a host the SDK does not know arrives encoded twice.
      if (!decodeURIComponent(decodeURIComponent(reference)).endsWith(PAYMENT_ID)) return undefined;
      const display = { assetSymbol: 'USDC', assetName: 'USD Coin', decimals: 6 };
      const amount = { unit: `caip19/${CHAIN_ID}/erc20:0x${'22'.repeat(20)}`, value: '12340000', display };
      const account = `${CHAIN_ID}:${this.payer}`;
      const build = { type: 'build', data: { data: '7b7d' } };
      const params = [this.payer.toLowerCase(), TYPED_DATA_JSON];
      const sign = { type: 'walletRpc', data: { chain_id: CHAIN_ID, method: 'eth_signTypedData_v4', params } };
      if (call === 'options') return { options: [{ id: 'opt_1', account, amount, etaS: 1, actions: [build] }] };
      if (call === 'fetch') return { actions: [sign] };
      if (call === 'confirm' && body.includes('"results"')) {
        return { status: 'succeeded', isFinal: true, pollInMs: null, info: null };
      }
      return undefined;
    },
  };
}
