import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import {
  CALLERS,
  type Caller,
  type GuardedRoute,
  guardedRoutes,
  matrixTable,
  PEOPLE_CALLERS,
  verdictOf,
  WITHOUT_PASSKEY,
} from '../../scripts/authorisation-page.ts';
import { changeMerchant } from '../../src/actions/parties/change-merchant.ts';
import { revokeKey } from '../../src/actions/parties/issue-key.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { type Belonging, ROLES } from '../../src/domain/role.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { VERIFIED_MS } from '../../src/domain/session.ts';
import { signCode } from '../../src/domain/sign-code.ts';
import { browserOf, invite, OF_OPERATOR, ofMerchant, ofPartner, signIn } from '../e2e/people-scene.ts';
import { happen, ORDER } from '../e2e/shop.ts';
import {
  createTestApp,
  createTestKey,
  createTestMerchant,
  createTestPartner,
  freshKey,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';
import { expandedApi } from '../openapi.ts';
import { registeredUrls } from '../registered-urls.ts';
import { until } from '../until.ts';
import { idFor, type RouteIds as Scene } from './route-ids.ts';
import { widenedRequests } from './widened-requests.ts';

const ROUTES = guardedRoutes(expandedApi);
const HERE = '203.0.113.7';
const ELSEWHERE = '198.51.100.1';
const ASSET = 'eip155:1/slip44:60';
const ACCOUNT = `eip155:1:0x${'1'.repeat(40)}`;

const LINK = { description: 'Coffee', amount: ORDER.amount };
const ENDPOINT = { url: 'https://shop.example/hook', events: ['*'] };

type Headers = Record<string, string>;

/** Objects of the owner that no earlier request has changed. */
describe('authorisation', () => {
  let gateway: TestGateway;
  let owner: Awaited<ReturnType<typeof createTestPartner>>;
  let stranger: Headers;
  let strangerOwner: typeof owner;
  /** For requests that change nothing. */
  let still: Scene | undefined;
  /** For requests of people, who change it without an end. */
  let worn: Scene | undefined;
  /** Of a merchant that is stopped. */
  let frozen: Scene | undefined;
  /** Of callers who send ids of others. */
  const outside: Scene[] = [];
  const keptOf = (name: keyof Scene) => [still, worn, frozen, ...outside].map((kept) => kept?.[name] ?? '');
  let credentials: (route: GuardedRoute) => Readonly<Record<Caller, Headers>>;

  before(async () => {
    let behindMs = 2 * VERIFIED_MS;
    gateway = await startTestGateway({ world: { clock: { nowMs: () => Date.now() - behindMs } } });
    owner = await createTestPartner(gateway);
    const newStale = async () => (await signIn(gateway, { belonging: ofPartner(owner.partner.id) })).headers;
    const [stale, staleLeaving] = [await newStale(), await newStale()];
    behindMs = 0;
    strangerOwner = await createTestPartner(gateway);
    const strangerId = strangerOwner.partner.id;
    stranger = strangerOwner.headers;
    still = await newScene();
    const keyWith = async (key: object, mode: 'test' | 'live' = 'test'): Promise<Headers & { id: string }> => {
      const issued = await createTestKey(gateway, owner.partner.id, { mode, key });
      return { 'api-key': issued.secret, id: issued.key.id };
    };
    const otherMerchant = (await createTestMerchant(gateway, owner.headers)).id;
    const live = await keyWith({}, 'live');
    const revoked = await keyWith({});
    await revokeKey(gateway, { actor: 'test', keyId: revoked.id });
    const expired = await keyWith({ expiresAt: new Date(Date.now() - 1) });
    const limited = await keyWith({ merchantIds: [otherMerchant] });
    const fenced = await keyWith({ addresses: [HERE] });
    const app = await createTestApp(gateway);
    const lacking = new Map<string | undefined, Headers>();
    for (const scope of SCOPES) lacking.set(scope, await keyWith({ scopes: SCOPES.filter((each) => each !== scope) }));
    const partnerId = owner.partner.id;
    const refundLimits = [{ unit: ORDER.amount.unit, value: ORDER.amount.value }];
    const person = async (of: Parameters<typeof signIn>[1]) => (await signIn(gateway, of)).headers;
    const newPeople = async (staleOwner: Headers) => ({
      ...(Object.fromEntries(
        await Promise.all(
          ROLES.map(async (role) => [role, await person({ belonging: ofPartner(partnerId), role, refundLimits })]),
        ),
      ) as Record<(typeof ROLES)[number], Headers>),
      'other partner’s owner': await person({ belonging: ofPartner(strangerId) }),
      'other merchant’s owner': await person({ belonging: ofMerchant(partnerId, otherMerchant) }),
      operator: { ...(await person({ belonging: OF_OPERATOR })), 'partner-id': partnerId },
      'stale owner': staleOwner,
    });
    const people = await newPeople(stale);
    const leaving = await newPeople(staleLeaving);
    const ended = await person({ belonging: ofPartner(partnerId) });
    await browserOf(gateway, ended)('DELETE', '/v1/sessions/current');
    credentials = ({ method, path, scope }) => ({
      'own key': owner.headers,
      'no key': {},
      'other partner': stranger,
      'other partner, own merchant': stranger,
      'other mode': live,
      revoked,
      expired,
      'scope missing': lacking.get(scope) ?? {},
      'other merchant': limited,
      'address not allowed': fenced,
      'App-Id': { 'app-id': app.id, 'client-id': 'client' },
      frozen: owner.headers,
      // Signing out ends the session.
      ...(method === 'DELETE' && path === '/v1/sessions/current' ? leaving : people),
      'other site': { ...people.owner, 'sec-fetch-site': 'cross-site' },
      'ended session': ended,
    });
  });
  after(() => gateway.stop());

  async function newScene(of = owner): Promise<Scene> {
    const { id: merchantId } = await createTestMerchant(gateway, of.headers);
    const registered = await gateway.call({
      method: 'POST',
      url: `/v1/merchants/${merchantId}/settlements/crypto`,
      headers: { ...of.headers, 'idempotency-key': freshKey() },
      payload: { settlements: [{ asset: ASSET, destination: ACCOUNT }] },
    });
    const created = await gateway.call({
      method: 'POST',
      url: '/v1/payments',
      headers: { ...of.headers, 'merchant-id': merchantId },
      payload: ORDER,
    });
    const { paymentId } = created.json();
    const findEvent = async () => {
      const url = `/v1/events?merchantId=${merchantId}&types=payment.created`;
      return (await gateway.call({ method: 'GET', url, headers: of.headers })).json().events[0]?.id;
    };
    await until('the event is placed', async () => (await findEvent()) !== undefined);
    const settlementId = registered.json().settlements[0].id;
    const eventId = await findEvent();
    const refundId = await newRefund(paymentId, merchantId);
    const lateId = await newLateMoney(paymentId, merchantId);
    const link = await gateway.call({
      method: 'POST',
      url: '/v1/payment-links',
      headers: { ...of.headers, 'merchant-id': merchantId },
      payload: LINK,
    });
    const linkId = link.json().paymentLink.id;
    const own = {
      merchantId,
      settlementId,
      linkId,
      paymentId,
      eventId,
      refundId,
      lateId,
      endpointId: await newEndpoint(of, eventId),
    };
    return { ...own, ...(await newCashier(of)), keyId: await newKey(of) };
  }

  async function newFrozenScene(): Promise<Scene> {
    const scene = await newScene();
    // A refund is refused for its payment first, so this one is paid.
    await happen(gateway, scene.paymentId, 'confirmed', 'succeeded');
    const changes = { status: 'suspended' } as const;
    await changeMerchant(gateway, { owner: null, actor: 'test', merchantId: scene.merchantId, changes });
    return scene;
  }

  async function newRefund(paymentId: string, merchantId: string): Promise<string> {
    const id = refundIdOf(paymentId, 1);
    await gateway.db.sql`
      insert into refunds (id, payment_id, merchant_id, network, asset, method, recipient, amount, price_value, fee, state,
        from_held, from_merchant, from_operator, account, requested_at, updated_at)
      values (${id}, ${paymentId}, ${merchantId}, 'eip155:1', ${ASSET}, 'eip3009-vrs', ${ACCOUNT}, 1, 1, 0, 'failed',
        1, 0, 0, ${ACCOUNT}, now(), now())`;
    return id;
  }

  async function newLateMoney(paymentId: string, merchantId: string): Promise<string> {
    const id = paymentId.replace('pay_', 'stry_');
    await gateway.db.sql`
      insert into strays (id, network, transaction_hash, log_index, block_number, source, asset, account, amount, fee,
        is_held, payment_id, merchant_id, is_booked, state, reason, seen_at, updated_at)
      values (${id}, 'eip155:1', ${id}, 0, 1, 'late_payment', ${ASSET}, ${ACCOUNT}, 1, 0, true, ${paymentId},
        ${merchantId}, true, 'unclaimed', 'late', now(), now())`;
    return id;
  }

  /** A merchant with late money cannot be deleted. */
  async function takeMoney({ lateId }: Scene): Promise<void> {
    await gateway.db.sql`update strays set state = 'returned' where id = ${lateId}`;
  }

  async function newCashier(of: typeof owner) {
    const { person, sessionId } = await signIn(gateway, { belonging: ofPartner(of.partner.id), role: 'cashier' });
    const passkeyId = person.id.replace('psn_', 'pky_');
    await gateway.db.sql`
      insert into passkeys (id, person_id, credential_id, public_key, counter, transports, label, created_at, mac)
      values (${passkeyId}, ${person.id}, ${passkeyId}, 'key', 0, '{}', 'Phone', now(), 'mac')`;
    return { personId: person.id, sessionId, passkeyId };
  }

  /** Earlier keys are ended, because a partner has at most 100 in force. */
  async function newKey(of: typeof owner): Promise<string> {
    const label = 'Scene';
    await gateway.db.sql`
      insert into api_key_ends (key_id, kind, at)
      select id, 'revoked', now() from api_keys
      where label = ${label} and id <> all(${keptOf('keyId')}::text[])`;
    const { key } = await createTestKey(gateway, of.partner.id, { key: { label, scopes: ['payments:read'] } });
    return key.id;
  }

  /** Earlier endpoints are deleted, because a partner has at most 20. */
  async function newEndpoint(of: typeof owner, eventId: string): Promise<string> {
    const { sql } = gateway.db;
    await sql`update webhook_endpoints set status = 'deleted' where id <> all(${keptOf('endpointId')}::text[])`;
    const created = await gateway.call({
      method: 'POST',
      url: '/v1/webhook-endpoints',
      headers: of.headers,
      payload: ENDPOINT,
    });
    const { id } = created.json().webhookEndpoint;
    await sql`
      insert into webhook_deliveries (endpoint_id, event_id, created_at, begun_at, due_at)
      values (${id}, ${eventId}, now(), now(), now())`;
    return id;
  }

  /** A request that the owner could send with success, or as near to it as a gateway without a network allows. */
  function requestOf({ method, path }: GuardedRoute, scene: Scene, merchantId: string) {
    const id = idFor(path, scene, signCode(gateway.signingKeys, scene.refundId));
    const body: Readonly<Record<string, object>> = {
      'POST /v1/merchants': { merchantName: 'New shop', merchantEmail: 'new@example.com' },
      'PATCH /v1/merchants/{merchantId}': { merchantName: 'Another name' },
      'PUT /v1/merchants/{merchantId}/status': { status: 'active' },
      'PUT /v1/accepted-assets': { acceptedAssets: null },
      'PATCH /v1/merchants/{merchantId}/branding': { poweredBy: false },
      'POST /v1/merchants/{merchantId}/settlements/crypto': {
        settlements: [{ asset: 'eip155:10/slip44:60', destination: ACCOUNT.replace('eip155:1:', 'eip155:10:') }],
      },
      'PUT /v1/merchants/{merchantId}/settlements/crypto/{id}': { destination: ACCOUNT.replaceAll('1111', '2222') },
      'POST /v1/payments': ORDER,
      'POST /v1/merchant/payment': ORDER,
      'POST /v1/payment-links': LINK,
      'PATCH /v1/payment-links/{id}': { stock: 3 },
      'POST /v1/refunds': { paymentId: scene.paymentId },
      'POST /v1/late-money/{id}/return': { destination: ACCOUNT },
      'POST /v1/test/clock': { advanceMs: 1 },
      'POST /v1/people': { name: 'New', email: `${freshKey()}@shop.example`, role: 'cashier' },
      'PATCH /v1/people/{id}': { name: 'Another name' },
      'POST /v1/api-keys': { label: 'Scene', scopes: ['payments:read'] },
      'POST /v1/sessions/current/challenge': { purpose: 'verify' },
      'POST /v1/webhook-endpoints': ENDPOINT,
      'PATCH /v1/webhook-endpoints/{id}': { description: 'Changed' },
      'POST /v1/webhook-endpoints/{id}/redeliver': { since: '2026-01-01T00:00:00Z' },
      'POST /v1/gateway/payment/{id}/options': { accounts: [ACCOUNT] },
      'POST /v1/gateway/payment/{id}/fetch': { optionId: 'opt_unknown', data: '' },
      'POST /v1/gateway/payment/{id}/confirm': { optionId: 'opt_unknown', results: [] },
      'POST /v1/gateway/payment/{id}/address': { asset: ASSET },
      'POST /v1/gateway/payment/{id}/receipt-email': { email: 'payer@example.com' },
      'POST /v1/gateway/refund/{id}/confirm': { result: `0x${'11'.repeat(65)}` },
    };
    return {
      method: method as InjectOptions['method'],
      url: path.replace('{merchantId}', merchantId).replace('{id}', id).replace('{deliveryId}', scene.eventId),
      payload: body[`${method} ${path}`],
    };
  }

  async function call(
    route: GuardedRoute,
    caller: Caller,
  ): Promise<{ scene: Scene; response: LightMyRequestResponse }> {
    const isAdmitted = ['yes', 'own'].includes(verdictOf(route, caller));
    // What people change leaves the objects in place, unless they delete them: one scene serves most of their requests.
    const isPerson = Object.hasOwn(PEOPLE_CALLERS, caller);
    const isChanging = isAdmitted && (isPerson ? route.method === 'DELETE' : route.method !== 'GET');
    const sceneOf = caller === 'frozen' ? newFrozenScene : () => newScene();
    if (isPerson) worn ??= await newScene();
    if (caller === 'frozen') frozen ??= await newFrozenScene();
    const kept = isPerson ? worn : caller === 'frozen' ? frozen : still;
    const scene = isChanging || kept === undefined ? await sceneOf() : kept;
    if (isAdmitted && route.method === 'DELETE' && route.path === '/v1/merchants/{merchantId}') await takeMoney(scene);
    const isOwnMerchant = caller === 'other partner, own merchant';
    const merchantId = isOwnMerchant ? (await createTestMerchant(gateway, stranger)).id : scene.merchantId;
    const { id: _, ...own } = credentials(route)[caller];
    const headers = {
      ...own,
      ...(route.merchant === 'header' && { 'merchant-id': merchantId }),
      ...(route.method !== 'GET' && { 'idempotency-key': freshKey() }),
    };
    const isSignIn = route.method === 'POST' && route.path === '/v1/sessions';
    const request = {
      ...requestOf(route, scene, merchantId),
      ...(isSignIn && { payload: { link: (await invite(gateway, { belonging: OF_OPERATOR })).link.token } }),
      headers,
      remoteAddress: ELSEWHERE,
    };
    return { scene, response: await gateway.call(request) };
  }

  function verdictIn(response: LightMyRequestResponse, scene: Scene, isOwnOnly: boolean): string {
    const { statusCode, body } = response;
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    const { code = '' } = isJson ? response.json() : {};
    const isRefused = [401, 403].includes(statusCode) || statusCode === 404;
    if (isRefused) return `${statusCode} ${code}`;
    assert.ok(statusCode < 500, body);
    if (!isOwnOnly) return 'yes';
    assert.ok(statusCode < 300, body);
    const leaked = Object.values(scene).filter((id) => body.includes(id));
    return leaked.length === 0 ? 'own' : `shows ${leaked.join(', ')}`;
  }

  it('of every route gives every caller the answer of docs/authorisation.md', async (context) => {
    const wrong: string[] = [];
    for (const route of ROUTES) {
      for (const caller of Object.keys(CALLERS) as Caller[]) {
        const expected = verdictOf(route, caller);
        const { response, scene } = await call(route, caller);
        assert.ok(response.statusCode < 500, `${route.method} ${route.path}, ${caller}: ${response.body}`);
        const actual = verdictIn(response, scene, expected === 'own');
        if (actual !== expected) wrong.push(`${route.method} ${route.path}, ${caller}: ${actual}, not ${expected}`);
      }
    }
    for (const line of matrixTable(ROUTES)) context.diagnostic(line);
    assert.deepEqual(wrong, []);
  });

  it('is not widened by ids of others, in any parameter that any route knows', async () => {
    const { victim, outsiders, sibling, before } = await victimAmongOutsiders();
    const wanted = { ...victim, partnerId: owner.partner.id };
    const wrong: string[] = [];
    for (const { name, headers, own } of outsiders) {
      // Deletions come last: they take the caller's own objects.
      const routes = ROUTES.toSorted((a, b) => Number(a.method === 'DELETE') - Number(b.method === 'DELETE'));
      for (const route of routes) {
        const example = requestOf(route, own, own.merchantId).payload ?? exampleOf(route);
        for (const widened of widenedRequests(expandedApi, route, wanted, example)) {
          const request = requestOf(route, own, own.merchantId);
          const payload = widened.body === undefined ? example : { ...example, ...widened.body };
          const response = await gateway.call({
            ...request,
            url: `${request.url}${widened.query}`,
            ...(payload && { payload }),
            headers: {
              ...headers,
              ...(route.merchant === 'header' && { 'merchant-id': own.merchantId }),
              ...(route.method !== 'GET' && { 'idempotency-key': freshKey() }),
            },
          });
          const added = `${widened.query} ${JSON.stringify(widened.body ?? {})}`.slice(0, 200);
          const place = `${route.method} ${route.path}${added}, ${name}`;
          const { statusCode, body } = response;
          if (statusCode >= 500) wrong.push(`${place}: ${statusCode}`);
          const shown = Object.values(own === sibling ? victim : wanted).filter(
            (id) => body.includes(id) && !widened.sent.includes(id),
          );
          if (shown.length > 0) wrong.push(`${place}: shows ${shown.join(', ')}`);
          const unnoticed = statusCode === 400 ? unnamed(response, widened.refused) : widened.refused;
          // A caller that the route does not admit is refused for that, before its fields are read.
          if (![401, 403, 404].includes(statusCode) && unnoticed.length > 0) {
            wrong.push(`${place}: ${statusCode}, takes ${unnoticed.join(', ')}`);
          }
        }
      }
    }
    assert.deepEqual(wrong, []);
    assert.deepEqual(await seenByOwner(victim), before);
  });

  it('is not widened by ids of others in the path, beside ids of the caller, or by the header of a partner', async () => {
    const { victim, outsiders, before } = await victimAmongOutsiders();
    const guarded = ROUTES.filter(({ scheme }) => scheme === 'partner' || scheme === 'legacy' || scheme === 'person');
    const wrong: string[] = [];
    let mixed = 0;
    for (const { name, headers, own } of outsiders) {
      const send = (route: GuardedRoute, scene: Scene, more: Headers = {}) => {
        const request = requestOf(route, scene, own.merchantId);
        const payload = request.payload ?? exampleOf(route);
        const ownHeaders = {
          ...headers,
          ...(route.merchant === 'header' && { 'merchant-id': own.merchantId }),
          ...(route.method !== 'GET' && { 'idempotency-key': freshKey() }),
        };
        return gateway.call({ ...request, ...(payload && { payload }), headers: { ...ownHeaders, ...more } });
      };
      for (const route of guarded.filter(({ path }) => path.includes('{id}'))) {
        const mixtures = route.path.includes('{deliveryId}')
          ? [
              { ...own, eventId: victim.eventId },
              { ...victim, eventId: own.eventId },
            ]
          : [{ ...victim, merchantId: own.merchantId }];
        for (const mixture of mixtures) {
          mixed += 1;
          const { statusCode, body } = await send(route, mixture);
          const place = `${route.method} ${route.path}, ${name}: ${statusCode} ${body}`;
          if (statusCode < 400 || statusCode >= 500) wrong.push(place);
        }
      }
      for (const route of guarded.filter(({ method }) => method === 'GET')) {
        const { statusCode, body } = await send(route, own, { 'partner-id': owner.partner.id });
        const shown = Object.values(victim).filter((id) => body.includes(id));
        if (statusCode >= 500 || shown.length > 0)
          wrong.push(`${route.path}, ${name}, Partner-Id: ${shown.join(', ')}`);
      }
    }
    assert.ok(mixed > 100, `${mixed} requests`);
    assert.deepEqual(wrong, []);
    assert.deepEqual(await seenByOwner(victim), before);
  });

  function exampleOf({ method, path }: GuardedRoute): object | undefined {
    return expandedApi.paths[path][method.toLowerCase()].requestBody?.content['application/json'].example;
  }

  /** The names that a refusal does not mention. */
  function unnamed(response: LightMyRequestResponse, names: readonly string[]): readonly string[] {
    const { code, issues = [] } = response.json() as { code: string; issues?: readonly { readonly field: string }[] };
    if (code !== 'params_validation') return [];
    return names.filter((name) => !issues.some(({ field }) => field === name));
  }

  /** A scene of the owner, and callers who may not see it, each with a scene of its own. */
  async function victimAmongOutsiders() {
    const victim = await newScene();
    still = victim;
    const sibling = await newScene();
    const elsewhere = await newScene(strangerOwner);
    outside.push(sibling, elsewhere);
    const ownKey = await createTestKey(gateway, owner.partner.id, { key: { merchantIds: [sibling.merchantId] } });
    const person = async (belonging: Belonging) => (await signIn(gateway, { belonging })).headers;
    const outsiders = [
      { name: 'other partner', headers: stranger, own: elsewhere },
      { name: 'other merchant', headers: { 'api-key': ownKey.secret }, own: sibling },
      { name: 'other partner’s owner', headers: await person(ofPartner(strangerOwner.partner.id)), own: elsewhere },
      {
        name: 'other merchant’s owner',
        headers: await person(ofMerchant(owner.partner.id, sibling.merchantId)),
        own: sibling,
      },
    ];
    return { victim, sibling, outsiders, before: await seenByOwner(victim) };
  }

  /** The objects of a scene, as their owner sees them. */
  async function seenByOwner(scene: Scene): Promise<unknown> {
    const { headers: ownerHeaders } = await signIn(gateway, { belonging: ofPartner(owner.partner.id) });
    const read = async (url: string) => {
      const headers = { ...ownerHeaders, 'merchant-id': scene.merchantId };
      return (await gateway.call({ url, headers })).json();
    };
    const { people } = await read('/v1/people');
    const { apiKeys } = await read('/v1/api-keys');
    return [
      await read(`/v1/merchants/${scene.merchantId}`),
      await read(`/v1/merchants/${scene.merchantId}/branding`),
      await read(`/v1/payments/${scene.paymentId}`),
      await read(`/v1/refunds/${scene.refundId}`),
      await read(`/v1/late-money/${scene.lateId}`),
      await read(`/v1/payment-links/${scene.linkId}`),
      await read(`/v1/webhook-endpoints/${scene.endpointId}`),
      people.find(({ id }: { id: string }) => id === scene.personId),
      apiKeys.find(({ id }: { id: string }) => id === scene.keyId),
    ];
  }

  it('asks people for the passkey again, or says why a change does not', () => {
    const changes = ROUTES.filter(({ method, scheme }) => method !== 'GET' && ['partner', 'person'].includes(scheme));
    const nameOf = ({ method, path }: GuardedRoute) => `${method} ${path}`;
    const asking = changes.filter(({ needsPasskey }) => needsPasskey).map(nameOf);
    const others = changes.filter(({ needsPasskey }) => !needsPasskey).map(nameOf);
    assert.deepEqual(others.toSorted(), Object.keys(WITHOUT_PASSKEY).toSorted());
    assert.ok(asking.includes('DELETE /v1/merchants/{merchantId}') && asking.includes('POST /v1/api-keys'));
  });

  it('lets a key without limits succeed on every route that needs no network', async () => {
    const admitted = new Set<string>();
    const routes = ROUTES.filter(({ scheme }) => scheme !== 'person' && scheme !== 'visitor');
    for (const route of routes) {
      const { response } = await call(route, 'own key');
      if (response.statusCode < 300) admitted.add(`${route.method} ${route.path}`);
    }
    // The others need a paid payment, an option or a waiting refund: the key is admitted, and the request is refused for that.
    const others = routes.map(({ method, path }) => `${method} ${path}`).filter((name) => !admitted.has(name));
    assert.deepEqual(others.sort(), [
      'GET /v1/payments/{id}/receipt',
      'GET /x402/{id}',
      'POST /v1/gateway/payment/{id}/address',
      'POST /v1/gateway/payment/{id}/confirm',
      'POST /v1/gateway/payment/{id}/fetch',
      'POST /v1/gateway/payment/{id}/receipt-email',
      'POST /v1/gateway/refund/{id}/actions',
      'POST /v1/gateway/refund/{id}/confirm',
      'POST /v1/late-money/{id}/return',
      'POST /v1/refunds',
    ]);
  });

  it('is asked for by every route under /v1, described or not', async () => {
    const open = ROUTES.filter(({ path, scheme }) => path.startsWith('/v1/') && scheme === 'public');
    assert.deepEqual(open, []);
    const described = new Set(ROUTES.map(({ path }) => path.replace(/\{(\w+)\}/g, ':$1')));
    const registered = registeredUrls(gateway.app.printRoutes({ commonPrefix: false }));
    assert.ok(registered.includes('/v1/payments/:id/receipt') && registered.includes('/v1/merchants/:merchantId'));
    const hidden = registered.filter((url) => url.startsWith('/v1/') && !url.endsWith('*') && !described.has(url));
    assert.deepEqual(hidden, []);
  });
});
