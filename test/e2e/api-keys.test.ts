import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pruneRequests } from '../../src/actions/record-requests.ts';
import {
  createTestKey,
  createTestMerchant,
  createTestPartner,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';
import { browserOf, OF_OPERATOR, ofMerchant, ofPartner, signIn } from './people-scene.ts';

const READ_PAYMENTS = { label: 'Reports', scopes: ['payments:read'] };

describe('API keys', () => {
  let gateway: TestGateway;
  let shop: Awaited<ReturnType<typeof createTestPartner>>;
  let owner: ReturnType<typeof browserOf>;
  before(async () => {
    gateway = await startTestGateway();
    shop = await createTestPartner(gateway);
    owner = browserOf(gateway, (await signIn(gateway, { belonging: ofPartner(shop.partner.id) })).headers);
  });
  after(() => gateway.stop());

  const statusWith = async (secret: string) =>
    (await gateway.call({ method: 'GET', url: '/v1/payments', headers: { 'api-key': secret } })).statusCode;

  it('are listed by pages, the newest first, and ended ones on request', async () => {
    const own = await owner('POST', '/v1/api-keys', { ...READ_PAYMENTS, label: 'First' });
    const ids = [own.json().apiKey.id];
    for (let count = 0; count < 4; count += 1) {
      ids.unshift((await owner('POST', '/v1/api-keys', READ_PAYMENTS)).json().apiKey.id);
    }
    const [newest, , ended] = ids;
    await owner('DELETE', `/v1/api-keys/${ended}`);
    const all = async (query: string) => {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const page = (await owner('GET', `/v1/api-keys?limit=2${query}${cursor}`)).json();
        assert.ok(page.apiKeys.length <= 2, JSON.stringify(page));
        found.push(...page.apiKeys.map(({ id }: { id: string }) => id));
        if (page.nextCursor === null) return found;
        cursor = `&cursor=${page.nextCursor}`;
      }
    };
    const [listed, inForce] = [await all(''), await all('&inForce=true')];
    assert.deepEqual(listed, [...new Set(listed)].sort().reverse());
    assert.ok(ids.every((id) => listed.includes(id)) && listed[0] === newest);
    assert.deepEqual(
      inForce,
      listed.filter((id) => inForce.includes(id)),
    );
    assert.ok(!inForce.includes(ended ?? '') && inForce.includes(newest ?? ''));
    const { nextCursor } = (await owner('GET', '/v1/api-keys?limit=2')).json();
    const foreign = await owner('GET', `/v1/api-keys?limit=2&inForce=true&cursor=${nextCursor}`);
    assert.equal(foreign.json().code, 'invalid_params');
  });

  it('are issued with their limits, and the secret is shown once', async () => {
    const { id: merchantId } = await createTestMerchant(gateway, shop.headers);
    const limits = { scopes: ['payments:read'], merchantIds: [merchantId], addresses: ['127.0.0.0/8'] };
    const answer = await owner('POST', '/v1/api-keys', { label: 'Till <b>', ...limits });
    assert.equal(answer.statusCode, 201, answer.body);
    const { secret, ...key } = answer.json().apiKey;
    assert.match(secret, /^till_test_/);
    assert.equal(key.hint, secret.slice(-4));
    assert.equal(await statusWith(secret), 200);
    const listed = await owner('GET', '/v1/api-keys');
    assert.deepEqual(
      listed.json().apiKeys.find(({ id }: { id: string }) => id === key.id),
      { ...key, lastUsedAt: null },
    );
    assert.ok(!listed.body.includes(secret));
    const log = await owner('GET', `/v1/audit-log?subject=${key.id}`);
    assert.equal(log.json().entries[0].action, 'key.issued');
    assert.ok(!log.body.includes(secret));
  });

  it('are rotated: both work during the overlap, and the old one ends with it', async () => {
    const { id, secret } = (await owner('POST', '/v1/api-keys', READ_PAYMENTS)).json().apiKey;
    const rotated = await owner('POST', `/v1/api-keys/${id}/rotate`, { overlapSeconds: 3_600 });
    assert.equal(rotated.statusCode, 201, rotated.body);
    const { apiKey: successor, replaced } = rotated.json();
    assert.deepEqual(successor.scopes, ['payments:read']);
    assert.equal(successor.rotatedFrom, id);
    assert.ok(Math.abs(Date.parse(replaced.expiresAt) - Date.now() - 3_600_000) < 60_000);
    assert.deepEqual([await statusWith(secret), await statusWith(successor.secret)], [200, 200]);
    const now = await owner('POST', `/v1/api-keys/${successor.id}/rotate`, { overlapSeconds: 0 });
    assert.deepEqual([await statusWith(successor.secret), await statusWith(now.json().apiKey.secret)], [401, 200]);
    const again = await owner('POST', `/v1/api-keys/${successor.id}/rotate`);
    assert.deepEqual([again.statusCode, again.json().code], [400, 'invalid_state']);
  });

  it('are revoked at once on this node, as often as it is asked for', async () => {
    const { id, secret } = (await owner('POST', '/v1/api-keys', READ_PAYMENTS)).json().apiKey;
    assert.equal(await statusWith(secret), 200);
    for (const _ of [1, 2]) assert.equal((await owner('DELETE', `/v1/api-keys/${id}`)).statusCode, 200);
    assert.equal(await statusWith(secret), 401);
    const unknown = await owner('DELETE', '/v1/api-keys/key_01KHRZ5Q8MB2N4P6R8T0V2X4Z6');
    assert.deepEqual([unknown.statusCode, unknown.json().code], [404, 'api_key_not_found']);
  });

  it('never have more rights than the person who issues or rotates them', async () => {
    const { headers } = await signIn(gateway, { belonging: ofPartner(shop.partner.id), role: 'developer' });
    const developer = browserOf(gateway, headers);
    assert.equal((await developer('POST', '/v1/api-keys', READ_PAYMENTS)).statusCode, 201);
    const wide = await developer('POST', '/v1/api-keys', { label: 'Everything' });
    assert.deepEqual([wide.statusCode, wide.json().code], [403, 'forbidden']);
    assert.match(wide.json().message, /refunds:write/);
    const stolen = await developer('POST', `/v1/api-keys/${shop.key.id}/rotate`, { overlapSeconds: 3_600 });
    assert.equal(stolen.statusCode, 403);
    assert.ok(!stolen.body.includes('till_test_'));
    assert.equal(await statusWith(shop.secret), 200);
  });

  it('of a merchant’s people are for that merchant, and the others are not seen', async () => {
    const { id: merchantId } = await createTestMerchant(gateway, shop.headers);
    const other = await createTestMerchant(gateway, shop.headers);
    const { headers } = await signIn(gateway, { belonging: ofMerchant(shop.partner.id, merchantId) });
    const person = browserOf(gateway, headers);
    const own = (await person('POST', '/v1/api-keys', { label: 'Own' })).json().apiKey;
    assert.deepEqual(own.merchantIds, [merchantId]);
    const foreign = await person('POST', '/v1/api-keys', { label: 'Other', merchantIds: [other.id] });
    assert.equal(foreign.statusCode, 403);
    const seen = (await person('GET', '/v1/api-keys')).json().apiKeys;
    assert.deepEqual(
      seen.map(({ id }: { id: string }) => id),
      [own.id],
    );
    assert.equal((await person('DELETE', `/v1/api-keys/${shop.key.id}`)).statusCode, 404);
  });

  it('are refused with addresses, ends and merchants that cannot be', async () => {
    const fieldsOf = async (more: object) => {
      const answer = await owner('POST', '/v1/api-keys', { ...READ_PAYMENTS, ...more });
      assert.equal(answer.statusCode, 400, answer.body);
      return answer.json().issues.map(({ field }: { field: string }) => field);
    };
    assert.deepEqual(await fieldsOf({ addresses: ['203.0.113.7', '1.2.3'] }), ['addresses[1]']);
    assert.deepEqual(await fieldsOf({ expiresAt: '2020-01-01T00:00:00Z' }), ['expiresAt']);
    assert.deepEqual(await fieldsOf({ expiresAt: 'soon' }), ['expiresAt']);
    assert.deepEqual(await fieldsOf({ scopes: [] }), ['scopes']);
    assert.deepEqual(await fieldsOf({ secret: 'mine' }), ['secret']);
    const foreign = await createTestPartner(gateway);
    const { id } = await createTestMerchant(gateway, foreign.headers);
    const answer = await owner('POST', '/v1/api-keys', { ...READ_PAYMENTS, merchantIds: [id] });
    assert.deepEqual([answer.statusCode, answer.json().code], [404, 'merchant_not_found']);
  });

  it('are at most a hundred in force', async () => {
    const { partner } = await createTestPartner(gateway);
    const many = browserOf(gateway, (await signIn(gateway, { belonging: ofPartner(partner.id) })).headers);
    for (let made = 1; made < 99; made += 1) await createTestKey(gateway, partner.id);
    const answers = await Promise.all([1, 2].map(() => many('POST', '/v1/api-keys', READ_PAYMENTS)));
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).sort(), [201, 409]);
  });

  it('can be read by people of the operator, who issue them by commands alone', async () => {
    const { headers } = await signIn(gateway, { belonging: OF_OPERATOR });
    const operator = browserOf(gateway, { ...headers, 'partner-id': shop.partner.id });
    assert.ok((await operator('GET', '/v1/api-keys')).json().apiKeys.length > 0);
    assert.equal((await operator('POST', '/v1/api-keys', READ_PAYMENTS)).statusCode, 403);
  });

  it('leave a log of their requests, without queries, bodies and secrets', async () => {
    const partner = await createTestPartner(gateway);
    const reader = browserOf(gateway, (await signIn(gateway, { belonging: ofPartner(partner.partner.id) })).headers);
    const secretText = 'very private text';
    const call = (method: 'GET' | 'POST', url: string, payload?: object) =>
      gateway.call({ method, url, headers: partner.headers, ...(payload && { payload }) });
    await call('GET', `/v1/payments?referenceId=${encodeURIComponent('private')}`);
    await call('POST', '/v1/merchants', { merchantName: secretText });
    await call('GET', `/v1/merchants/${partner.secret}`);
    await gateway.requestLog.flush(gateway);
    const log = await reader('GET', '/v1/request-log');
    const { requests } = log.json();
    assert.deepEqual(
      requests.map(({ method, path, status, code }: Record<string, unknown>) => [method, path, status, code]),
      [
        ['GET', '/v1/merchants/till_test_***', 404, 'merchant_not_found'],
        ['POST', '/v1/merchants', 400, 'params_validation'],
        ['GET', '/v1/payments', 200, null],
      ],
    );
    for (const hidden of [secretText, 'private', partner.secret]) assert.ok(!log.body.includes(hidden), hidden);
    assert.equal(requests[1].keyLabel, 'Test');
    const first = (await reader('GET', '/v1/request-log?onlyErrors=true&limit=1')).json();
    assert.equal(first.requests[0].id, requests[0].id);
    const next = (await reader('GET', `/v1/request-log?onlyErrors=true&limit=1&cursor=${first.nextCursor}`)).json();
    assert.equal(next.requests[0].id, requests[1].id);
    const others = await owner('GET', '/v1/request-log');
    assert.ok(!others.body.includes(partner.key.id));
  });

  it('record a sample of a flood, and count the rest', async () => {
    const partner = await createTestPartner(gateway);
    const reader = browserOf(gateway, (await signIn(gateway, { belonging: ofPartner(partner.partner.id) })).headers);
    const flood = Array.from({ length: 100 }, () =>
      gateway.call({ method: 'GET', url: '/v1/merchants/mrch_unknown', headers: partner.headers }),
    );
    await Promise.all(flood);
    await gateway.requestLog.flush(gateway);
    const { requests } = (await reader('GET', '/v1/request-log?limit=200')).json();
    assert.ok(requests.length >= 60 && requests.length < 100, String(requests.length));
  });

  it('forget their requests after a week', async () => {
    await gateway.db.sql`update api_requests set at = at - interval '8 days'`;
    await pruneRequests(gateway);
    const [row] = await gateway.db.sql<{ count: string }[]>`select count(*)::text as count from api_requests`;
    assert.equal(row?.count, '0');
  });
});
