import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createGateway, type GatewayOption } from './api.ts';

const signal = new AbortController().signal;
const OPTION = {
  id: 'o',
  account: 'eip155:1:0x1',
  amount: {
    unit: 'caip19/eip155:1/slip44:60',
    value: '1',
    display: { assetSymbol: 'ETH', assetName: 'Ether', decimals: 18 },
  },
  etaS: 1,
  actions: [{ type: 'build', data: { data: 'ab' } }],
  expiresAt: null,
} as const satisfies GatewayOption;

function gatewayThat(answer: () => Response | Promise<Response>) {
  const requests: { path: string; init: RequestInit }[] = [];
  const times: number[] = [];
  const gateway = createGateway({
    paymentId: 'pay_1',
    appId: 'app_1',
    clientId: 'visit',
    fetch: async (path, init) => {
      requests.push({ path: String(path), init: init ?? {} });
      return answer();
    },
    onServerTime: (ms) => times.push(ms),
  });
  return { gateway, requests, times };
}

const json = (body: unknown, init: ResponseInit = {}) => Response.json(body, init);

describe('the gateway, as the page sees it', () => {
  it('names the app and the visit, and nothing else', async () => {
    const { gateway, requests } = gatewayThat(() => json({ options: [] }));
    await gateway.options(['eip155:1:0x1'], signal);
    assert.equal(requests[0]?.path, '/v1/gateway/payment/pay_1/options?includePaymentInfo=true');
    assert.deepEqual(requests[0]?.init.headers, {
      'Content-Type': 'application/json',
      'App-Id': 'app_1',
      'Client-Id': 'visit',
    });
    assert.equal(requests[0]?.init.credentials, 'omit');
  });

  it('distinguishes refused from unavailable', async () => {
    const refused = gatewayThat(() => json({ code: 'quote_expired', message: '' }, { status: 400 }));
    assert.deepEqual(await refused.gateway.confirm('o', ['0x1'], signal), {
      is: 'refused',
      status: 400,
      code: 'quote_expired',
    });
    const answers: (() => Response | Promise<Response>)[] = [
      () => json({}, { status: 503 }),
      () => json({}, { status: 429 }),
      () => new Response('<html>captive portal</html>'),
      () => json({ options: 'nonsense' }),
      () => json({ options: [{ id: 1 }] }),
      () => Promise.reject(new TypeError('network')),
    ];
    for (const answer of answers) {
      assert.equal((await gatewayThat(answer).gateway.options([], signal)).is, 'unavailable');
    }
  });

  it('reads the accepted tokens from the options answer, if it lists them', async () => {
    const read = async (info: unknown) => {
      const answer = await gatewayThat(() => json({ options: [OPTION], info })).gateway.options([], signal);
      return answer.is === 'ok' ? answer.value : answer.is;
    };
    const accepted = [{ symbol: 'USDC', networkName: 'Base' }];
    const status = 'requires_action';
    const offer = { options: [OPTION], accepted: null, stopped: undefined, status };
    assert.deepEqual(await read({ status, accepted }), { ...offer, accepted });
    assert.deepEqual(await read({ status }), offer);
    assert.deepEqual(await read({ status, accepted: ['USDC'] }), offer);
    const stopped = { reason: 'sold_out', message: 'All pieces are sold.' };
    assert.deepEqual(await read({ status, accepted: [], stopped }), { ...offer, accepted: [], stopped });
    assert.equal(await read(null), 'unavailable');
  });

  it('reads the reason of a refused attempt, and ignores one in an unknown shape', async () => {
    const read = async (attempt: unknown) => {
      const body = { buyer: null, transaction: null, attempt };
      const answer = await gatewayThat(() => json(body)).gateway.details(signal);
      return answer.is === 'ok' ? answer.value.attempt : answer.is;
    };
    const attempt = { refusal: 'short_balance', triesUntil: 1_700_000_000 };
    assert.deepEqual(await read(attempt), attempt);
    for (const other of [undefined, null, 'paused', { refusal: 'paused' }]) assert.equal(await read(other), null);
  });

  it('waits for the requested time, but never long', async () => {
    const waits = async (header: string) => {
      const { gateway } = gatewayThat(() => json({}, { status: 503, headers: { 'Retry-After': header } }));
      const answer = await gateway.cancel(signal);
      return answer.is === 'unavailable' ? answer.retryAfterMs : undefined;
    };
    assert.equal(await waits('2'), 2_000);
    assert.equal(await waits('999999'), 60_000);
    assert.equal(await waits('soon'), null);
  });

  it('holds the status request, and takes "not modified" for the status it knows', async () => {
    const { gateway, requests, times } = gatewayThat(
      () => new Response(null, { status: 304, headers: { Date: 'Sun, 15 Nov 2026 09:00:00 GMT' } }),
    );
    const answer = await gateway.status('processing', signal);
    assert.equal(answer.is === 'ok' && answer.value.status, 'processing');
    assert.match(requests[0]?.path ?? '', /status\?maxPollMs=20000$/);
    assert.equal(new Headers(requests[0]?.init.headers).get('if-none-match'), '"processing"');
    assert.deepEqual(times, [Date.UTC(2026, 10, 15, 9)]);
  });

  it('fetches the missing actions of an option, and nothing when it has all', async () => {
    const data = { chain_id: 'eip155:1', method: 'eth_sendTransaction', params: [{}] };
    const { gateway, requests } = gatewayThat(() => json({ actions: [{ type: 'walletRpc', data }] }));
    assert.deepEqual(await gateway.fetchActions(OPTION, signal), { is: 'ok', value: [data] });
    assert.deepEqual(JSON.parse(String(requests[0]?.init.body)), { optionId: 'o', data: 'ab' });
    await gateway.fetchActions({ ...OPTION, actions: [{ type: 'walletRpc', data }] }, signal);
    assert.equal(requests.length, 1);
  });
});
