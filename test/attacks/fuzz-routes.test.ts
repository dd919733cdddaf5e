import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { InjectOptions } from 'fastify';
import { refundIdOf } from '../../src/domain/ids.ts';
import { signCode } from '../../src/domain/sign-code.ts';
import { standInPage } from '../e2e/checkout-page.ts';
import { DESTINATION, INTERMEDIATE, openPayingShop, type PayingShop, SANDBOX, USDC } from '../e2e/paying-shop.ts';
import { addPasskey, ofPartner, signIn } from '../e2e/people-scene.ts';
import { createTestApp, createTestKey, createTestMerchant, createTestPartner, freshKey } from '../gateway.ts';
import { IS_LONG } from '../long.ts';
import { registeredUrls } from '../registered-urls.ts';
import { until } from '../until.ts';
import { createFuzz, describedParameters, type KnownValues, strangeRequests, strangeUrls } from './fuzz-requests.ts';
import { idFor, type RouteIds } from './route-ids.ts';

/** The long run takes about five minutes on two idle cores. */
const REQUESTS = IS_LONG ? 400_000 : 1_200;
const AT_ONCE = 8;
const SLOWEST_MS = 2_000;
/** A request without an answer by then has been forgotten. */
const MOST_PATIENCE_MS = 20_000;
/** Slow requests that are sent again. */
const MOST_REPEATED = 5;
/** Caches of a node have bounds; until they are full the memory grows. */
const MOST_GROWTH_MB = 48;
/** The short run is the same each time, the long one explores. Set the printed seed to repeat a run. */
const SEED = Number(process.env.TILL_FUZZ_SEED ?? (IS_LONG ? Date.now() % 2 ** 31 : 7));

describe(`random requests to every route (TILL_FUZZ_SEED=${SEED})`, () => {
  let paying: PayingShop;
  let known: KnownValues;
  before(async () => {
    paying = await openPayingShop({ page: standInPage() });
    known = await knownValues(paying);
  });
  after(() => paying.gateway.stop());

  it('get no 5xx for a NUL byte or half a character, in any parameter of any route', async () => {
    const wrong: string[] = [];
    const admitted = new Set<string>();
    for (const { route, parameter, request } of strangeRequests(known)) {
      const { statusCode, body } = await paying.gateway.app.inject(request);
      if (statusCode >= 500) wrong.push(`${describeRequest(request)}: ${statusCode} ${body}`);
      // A request that is refused for its credentials or its number, or whose object is not found, may have reached no code that
      // reads the parameter. No object has a strange id.
      const isReached = ![401, 403, 405, 415, 429].includes(statusCode);
      if (isReached && (statusCode !== 404 || parameter.startsWith('path '))) admitted.add(`${route}: ${parameter}`);
    }
    assert.deepEqual(wrong, []);
    const parameters = describedParameters();
    assert.ok(parameters.includes('GET /v1/late-money: query merchantId'), `${parameters.length} parameters`);
    const untried = parameters.filter((parameter) => !admitted.has(parameter));
    assert.deepEqual(untried, [], 'parameters that no admitted request has tried');
  });

  it('get no 5xx for a NUL byte or half a character on any page', async () => {
    const { app } = paying.gateway;
    const patterns = registeredUrls(app.printRoutes({ commonPrefix: false }));
    for (const pattern of ['/c/:id/receipt', '/x402/:id', '/tx/:network/:id', '/l/:id'])
      assert.ok(patterns.includes(pattern), patterns.join());
    for (const url of strangeUrls(patterns)) {
      const { statusCode, body } = await app.inject({ url });
      assert.ok(statusCode < 500, `${url}: ${statusCode} ${body}`);
    }
    // The only form of a page.
    const link = known.ids.find((id) => id.startsWith('plk_')) ?? '';
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const payload of ['amount', 'once', 'other'].flatMap((name) => [
      `${name}=%00`,
      `${name}=5%ff`,
      `${name}%00=5`,
    ])) {
      const url = `/l/${link.slice('plk_'.length)}`;
      const { statusCode, body } = await app.inject({ method: 'POST', url, headers, payload });
      assert.ok(statusCode < 500 && statusCode !== 404, `${payload}: ${statusCode} ${body}`);
    }
  });

  it('get no 5xx and no slow answer, and leave the memory as it was', {
    timeout: IS_LONG ? 2_400_000 : 240_000,
  }, async () => {
    const next = createFuzz(SEED, known);
    const { app } = paying.gateway;
    const statuses = new Map<number, number>();
    const slow: ReturnType<typeof next>[] = [];
    const send = async (request: ReturnType<typeof next>) => {
      const startedAt = performance.now();
      const patience = new AbortController();
      const answer = await Promise.race([
        app.inject(request),
        pause(MOST_PATIENCE_MS, undefined, { signal: patience.signal }).catch(() => undefined),
      ]);
      patience.abort();
      assert.ok(answer, `${describeRequest(request)}: no answer`);
      const { statusCode, body } = answer;
      assert.ok(statusCode < 500, `${describeRequest(request)}: ${statusCode} ${body}`);
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
      return performance.now() - startedAt;
    };
    const run = async (count: number) => {
      for (let sent = 0; sent < count; sent += AT_ONCE) {
        const requests = Array.from({ length: AT_ONCE }, next);
        const times = await Promise.all(requests.map(send));
        slow.push(...requests.filter((_request, index) => (times[index] ?? 0) > SLOWEST_MS));
      }
    };
    await run(REQUESTS / 3);
    const before = heapMb();
    await run((REQUESTS * 2) / 3);
    const growth = heapMb() - before;
    assert.ok(growth < MOST_GROWTH_MB, `the memory grew by ${Math.round(growth)} MB`);
    // A machine that is busy elsewhere makes any answer slow once. A slow route is slow each time.
    for (const request of slow.slice(0, MOST_REPEATED)) {
      const again = [await send(request), await send(request), await send(request)];
      assert.ok(Math.min(...again) <= SLOWEST_MS, `${describeRequest(request)}: ${again.map(Math.round)} ms`);
    }
    // Requests that are all refused at the door would prove nothing.
    assert.ok((statuses.get(200) ?? 0) > 50, `${JSON.stringify([...statuses])}`);
    assert.ok((statuses.get(201) ?? 0) > 0, `${JSON.stringify([...statuses])}`);
  });
});

/** The shop's own merchant is only in its credentials: the requests may delete every merchant that they can name. */
async function knownValues({ gateway, shop, wallet, created, newPayer }: PayingShop): Promise<KnownValues> {
  const payer = newPayer({ [USDC]: 10n ** 12n });
  const payments = await Promise.all(Array.from({ length: 8 }, () => created()));
  const options = await Promise.all(payments.slice(0, 4).map((id) => wallet.option(id, payer.account, USDC)));
  const merchants = await Promise.all(
    Array.from({ length: 4 }, () => createTestMerchant(gateway, { 'api-key': shop.secret })),
  );
  const stranger = await createTestPartner(gateway);
  const app = await createTestApp(gateway);
  const { headers: owner } = await signIn(gateway, { belonging: ofPartner(shop.partner.id) });
  const link = await gateway.call({
    method: 'POST',
    url: '/v1/payment-links',
    headers: shop.headers,
    payload: { description: 'Coffee', amount: { unit: 'iso4217/USD', value: '500' } },
  });
  const ids = await routeIds({ gateway, shop }, { paymentId: payments[0] ?? '', linkId: link.json().paymentLink.id });
  const refundCode = signCode(gateway.signingKeys, ids.refundId);
  return {
    person: owner,
    idFor: (path) => idFor(path, ids, refundCode),
    merchantId: ids.merchantId,
    eventId: ids.eventId,
    credentials: [shop.headers, shop.headers, stranger.headers, owner, { 'app-id': app.id, 'client-id': 'fuzz' }],
    ids: [...payments, ...merchants.map(({ id }) => id), link.json().paymentLink.id],
    optionIds: options.map(({ id }) => id),
    accounts: [payer.account, `eip155:1:0x${'1'.repeat(40)}`],
  };
}

/** An object of the shop for each route that names one. */
async function routeIds(
  { gateway, shop }: Pick<PayingShop, 'gateway' | 'shop'>,
  { paymentId, linkId }: Pick<RouteIds, 'paymentId' | 'linkId'>,
): Promise<RouteIds> {
  const { sql } = gateway.db;
  const { merchant, partner, headers } = shop;
  const post = async (url: string, payload: object) => {
    const keyed = { ...headers, 'idempotency-key': freshKey() };
    const response = await gateway.call({ method: 'POST', url, headers: keyed, payload });
    assert.equal(response.statusCode, 201, response.body);
    return response.json();
  };
  const settlements = [{ asset: USDC, destination: `${SANDBOX}:${DESTINATION}` }];
  const registered = await post(`/v1/merchants/${merchant.id}/settlements/crypto`, { settlements });
  const { webhookEndpoint } = await post('/v1/webhook-endpoints', { url: 'http://127.0.0.1/hook', events: ['*'] });
  const endpointId = webhookEndpoint.id;
  const findEvent = async () => {
    const { events } = (await gateway.call({ url: '/v1/events?types=payment.created', headers })).json();
    return events[0]?.id as string | undefined;
  };
  await until('the event is placed', async () => (await findEvent()) !== undefined);
  const eventId = (await findEvent()) ?? '';
  await sql`
    insert into webhook_deliveries (endpoint_id, event_id, created_at, begun_at, due_at)
    values (${endpointId}, ${eventId}, now(), now(), now())`;
  const refundId = refundIdOf(paymentId, 1);
  await sql`
    insert into refunds (id, payment_id, merchant_id, network, asset, method, recipient, amount, price_value, fee, state,
      from_held, from_merchant, from_operator, account, requested_at, updated_at)
    values (${refundId}, ${paymentId}, ${merchant.id}, ${SANDBOX}, ${USDC}, 'eip3009-vrs', ${DESTINATION}, 1, 1, 0,
      'failed', 1, 0, 0, ${INTERMEDIATE}, now(), now())`;
  const lateId = paymentId.replace('pay_', 'stry_');
  await sql`
    insert into strays (id, network, transaction_hash, log_index, block_number, source, asset, account, amount, fee,
      is_held, payment_id, merchant_id, is_booked, state, reason, seen_at, updated_at)
    values (${lateId}, ${SANDBOX}, ${lateId}, 0, 1, 'late_payment', ${USDC}, ${INTERMEDIATE}, 1, 0, true, ${paymentId},
      ${merchant.id}, true, 'unclaimed', 'late', now(), now())`;
  const {
    person,
    sessionId,
    headers: cashier,
  } = await signIn(gateway, { belonging: ofPartner(partner.id), role: 'cashier' });
  const passkeyId = (await addPasskey(gateway, cashier)).response.json().passkey.id;
  const keyId = (await createTestKey(gateway, partner.id)).key.id;
  const settlementId = registered.settlements[0].id;
  const things = {
    paymentId,
    linkId,
    eventId,
    refundId,
    lateId,
    endpointId,
    settlementId,
    keyId,
    passkeyId,
    sessionId,
  };
  return { ...things, merchantId: merchant.id, personId: person.id };
}

/** The live heap after a collection. */
function heapMb(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function describeRequest({ method, url, headers, payload }: InjectOptions): string {
  return `${method} ${url} ${JSON.stringify(headers)} ${String(payload).slice(0, 500)}`;
}
