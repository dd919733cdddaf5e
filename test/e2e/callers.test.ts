import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { InjectOptions } from 'fastify';
import { changePartner } from '../../src/actions/parties/change-partner.ts';
import { issueKey, revokeKey, rotateKey } from '../../src/actions/parties/issue-key.ts';
import { unregisterApp } from '../../src/actions/parties/register-app.ts';
import { formatApiKey } from '../../src/domain/api-key.ts';
import type { Scope } from '../../src/domain/scope.ts';
import { readConfig } from '../../src/settings/read-config.ts';
import {
  createTestApp,
  createTestKey,
  createTestMerchant,
  createTestPartner,
  freshKey,
  startTestGateway,
  type TestGateway,
} from '../gateway.ts';
import { ONLY_LONG } from '../long.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { operations } from '../openapi.ts';
import { exchange, listen } from '../sockets.ts';
import { until } from '../until.ts';

type Headers = Record<string, string>;

/** Something has to be refused before anything else is looked at; `code` of the answer, with its status. */
async function refusal(gateway: TestGateway, request: InjectOptions & { url: string }): Promise<[number, string]> {
  const response = await gateway.call(request);
  return [response.statusCode, response.json().code];
}

/** The groups share the time, for one of them waits; within a group, time is often the test's own. */
const ALONE = { concurrency: false };

describe('callers', { concurrency: true }, () => {
  describe('checks', ALONE, () => {
    let gateway: TestGateway;
    before(async () => {
      gateway = await startTestGateway();
    });
    after(() => gateway.stop());

    it('run in the order of the catalogue: an earlier failure is reported before later ones', async () => {
      const { headers } = await createTestPartner(gateway);
      const { id } = await createTestMerchant(gateway, headers);
      const url = `/v1/merchants/${id}/settlements/crypto`;
      const [asset, other] = ['eip155:1/slip44:60', 'eip155:10/slip44:60'];
      const pair = (of: string) => ({ asset: of, destination: `${of.split('/')[0]}:0x${'1'.repeat(40)}` });
      const used = freshKey();
      const first = await gateway.call({
        method: 'POST',
        url,
        headers: { ...headers, 'idempotency-key': used },
        payload: { settlements: [pair(asset)] },
      });
      assert.equal(first.statusCode, 201);

      interface Request {
        readonly method?: 'POST' | 'PATCH';
        readonly url?: string;
        readonly payload?: object | string;
        readonly headers?: Record<string, string | undefined>;
      }
      const steps: [name: string, status: number, code: string, breaks: Request][] = [
        ['route', 404, 'invalid_params', { url: '/v1/merchant' }],
        ['method', 405, 'invalid_params', { method: 'PATCH', url }],
        ['header bytes', 400, 'header_not_ascii', { headers: { 'sdk-name': 'Zoë' } }],
        ['form of the version', 400, 'invalid_api_version', { headers: { 'pay-version': 'today' } }],
        ['credentials', 401, 'missing_api_key', { headers: { 'api-key': undefined } }],
        ['version against the pin', 400, 'unknown_api_version', { headers: { 'pay-version': '2026-02-19' } }],
        ['merchant', 404, 'merchant_not_found', { url: '/v1/merchants/mrch_x/settlements/crypto' }],
        ['body as JSON', 400, 'invalid_params', { payload: '{' }],
        ['fields of the body', 400, 'params_validation', { payload: { settlements: [pair('eip155:1')] } }],
        ['Idempotency-Key', 400, 'params_validation', { headers: { 'idempotency-key': undefined } }],
        ['request of the key', 409, 'idempotency_conflict', { headers: { 'idempotency-key': used } }],
        ['state', 409, 'invalid_state', { payload: { settlements: [pair(asset), pair(other)] } }],
      ];
      const good = { ...headers, 'idempotency-key': freshKey() };
      for (const [index, [name, status, code]] of steps.entries()) {
        // The steps after it are broken first, so that where two break the same thing the earlier one stays.
        const broken = steps.slice(index).map(([, , , breaks]) => breaks);
        const request: Request = Object.assign({}, ...broken.toReversed(), {
          headers: Object.assign({}, good, ...broken.toReversed().map(({ headers: wrong }) => wrong)),
        });
        const defined = Object.entries(request.headers ?? {}).filter(([, value]) => value !== undefined);
        const response = await gateway.call({
          method: request.method ?? 'POST',
          url: request.url ?? url,
          headers: { 'content-type': 'application/json', ...(Object.fromEntries(defined) as Headers) },
          payload: request.payload ?? {},
        });
        assert.deepEqual([response.statusCode, response.json().code], [status, code], name);
      }
    });

    it('of the version come first on every route of the API', async () => {
      for (const { method, url } of operations('/v1/')) {
        for (const headers of [{ 'pay-version': 'today' }, { 'wcp-version': '2026-02-30' }]) {
          assert.deepEqual(
            await refusal(gateway, { method, url, headers: headers as unknown as Headers }),
            [400, 'invalid_api_version'],
            `${method} ${url}`,
          );
        }
      }
    });

    it('of credentials come before the body and the query on every route of the API', async () => {
      for (const { method, url } of operations('/v1/')) {
        const headers = { 'content-type': 'application/json', 'pay-version': '1999-01-01' };
        const payload = method === 'GET' ? undefined : '{';
        const [status, code] = await refusal(gateway, { method, url: `${url}?limit=x&status=y`, headers, payload });
        // Routes for people ask for a session, and those that sign in for a page of this origin.
        assert.match(`${status} ${code}`, /^(401 (missing_|unauthorized)|403 forbidden)/, `${method} ${url}`);
      }
    });

    it('refuse bytes outside ASCII in every header of ours, as they come over the wire', async () => {
      const port = await listen(gateway);
      const names = ['Api-Key', 'X-Api-Key', 'App-Id', 'Client-Id', 'Merchant-Id', 'Pay-Version', 'WCP-Version'];
      names.push('Partner-Id', 'Session-Mode', 'Idempotency-Key', 'Sdk-Name', 'Sdk-Version', 'Sdk-Platform');
      for (const name of names) {
        for (const bytes of [Buffer.from([0x61, 0xff]), Buffer.from('é'), Buffer.from('🍩'), Buffer.from([0x80])]) {
          const head = `GET /v1/merchants HTTP/1.1\r\nHost: localhost\r\nPay-Version: x\r\n`.replace(
            name === 'Pay-Version' ? 'Pay-Version: x\r\n' : '',
            '',
          );
          const answer = await exchange(
            port,
            Buffer.concat([Buffer.from(`${head}${name}: `), bytes, Buffer.from('\r\n\r\n')]),
          );
          assert.equal(answer?.status, 400, name);
          assert.equal(JSON.parse(answer.body).code, 'header_not_ascii');
          assert.match(JSON.parse(answer.body).message, new RegExp(name, 'i'));
        }
      }
      const others = await exchange(
        port,
        Buffer.concat([Buffer.from('GET /health HTTP/1.1\r\nHost: localhost\r\nX-Other: '), Buffer.from('é\r\n\r\n')]),
      );
      assert.equal(others?.status, 200, 'other headers are nobody’s business');
    });
  });

  describe('API versions', ALONE, () => {
    let gateway: TestGateway;
    let partner: Awaited<ReturnType<typeof createTestPartner>>;
    before(async () => {
      gateway = await startTestGateway();
      partner = await createTestPartner(gateway);
    });
    after(() => gateway.stop());
    const list = (headers: Headers) =>
      gateway.call({ url: '/v1/merchants', headers: { ...partner.headers, ...headers } });

    it('that are known may be requested by either header, and both headers show the version in force', async () => {
      for (const [headers, version] of [
        [{}, '2026-02-18'],
        [{ 'pay-version': '' }, '2026-02-18'],
        [{ 'pay-version': '2026-02-18' }, '2026-02-18'],
        [{ 'wcp-version': '2026-02-18' }, '2026-02-18'],
        [{ 'pay-version': '2026-02-19.preview' }, '2026-02-19.preview'],
        [{ 'wcp-version': '2026-02-19.preview' }, '2026-02-19.preview'],
        [{ 'pay-version': '2026-02-19.preview', 'wcp-version': '2026-02-19.preview' }, '2026-02-19.preview'],
        [{ 'api-version': 'whatever an SDK sends' }, '2026-02-18'],
      ] as const) {
        const response = await list(headers as unknown as Headers);
        assert.equal(response.statusCode, 200);
        assert.equal(response.headers['pay-version'], version);
        assert.equal(response.headers['wcp-version'], version);
      }
    });

    it('that are malformed, older than the pin or unheard of are refused, each with its own code', async () => {
      const cases: Record<string, string[]> = {
        invalid_api_version: [
          ...[
            'today',
            '2026-2-18',
            '2026-02-30',
            '2026-13-01',
            '2025-02-29',
            '20260218',
            '2026-02-18.beta',
            '2026-02-18 ',
          ],
          ...['v2026-02-18', '2026-02-18,2026-02-18', '2026-02-18.PREVIEW', '0', "' or 1=1", '2026-02-18\t.preview'],
        ].filter((text) => text.trim() === text),
        api_version_downgrade: ['2026-02-17', '2000-01-01', '1999-12-31.preview', '2024-02-29', '0001-01-01'],
        unknown_api_version: ['2026-02-19', '2026-02-18.preview', '2027-01-01', '9999-12-31', '2026-02-20.preview'],
      };
      for (const [code, versions] of Object.entries(cases)) {
        for (const version of versions) {
          for (const name of ['pay-version', 'wcp-version']) {
            const response = await list({ [name]: version });
            assert.deepEqual([response.statusCode, response.json().code], [400, code], `${name}: ${version}`);
            assert.match(response.json().message, /2026-02-18, 2026-02-19\.preview/, 'it names the known ones');
          }
        }
      }
      const different = await list({ 'pay-version': '2026-02-18', 'wcp-version': '2026-02-19.preview' });
      assert.deepEqual([different.statusCode, different.json().code], [400, 'invalid_api_version']);
    });

    it('are pinned per partner', async () => {
      const { partner: ahead, headers } = await createTestPartner(gateway);
      // No later version is published yet, so the pin is moved where no operator command could.
      await gateway.db.sql`update partners set pinned_version = '2026-02-19' where id = ${ahead.id}`;
      const pinned = await gateway.call({ url: '/v1/merchants', headers });
      assert.equal(pinned.headers['pay-version'], '2026-02-19');
      const [status, code] = await refusal(gateway, {
        url: '/v1/merchants',
        headers: { ...headers, 'pay-version': '2026-02-18' },
      });
      assert.deepEqual([status, code], [400, 'api_version_downgrade']);
      assert.equal((await list({ 'pay-version': '2026-02-18' })).statusCode, 200, 'other partners stay where they are');
      const back = changePartner(gateway, {
        actor: 'operator',
        partnerId: ahead.id,
        changes: { pinnedVersion: '2026-02-18' },
      });
      await assert.rejects(back, { code: 'api_version_downgrade' });
    });
  });

  describe('partner keys', ALONE, () => {
    let gateway: TestGateway;
    let time: ManualTime;
    before(async () => {
      time = manualTime();
      gateway = await startTestGateway({ world: time });
    });
    after(() => gateway.stop());
    const list = (headers: Headers) => gateway.call({ url: '/v1/merchants', headers });
    const codeFor = async (headers: Headers) => (await list(headers)).json().code as string | undefined;

    it('are asked for', async () => {
      const { secret } = await createTestPartner(gateway);
      for (const headers of [{}, { 'api-key': '' }, { 'x-api-key': secret }, { authorization: `Bearer ${secret}` }]) {
        assert.deepEqual(await refusal(gateway, { url: '/v1/merchants', headers: headers as unknown as Headers }), [
          401,
          'missing_api_key',
        ]);
      }
    });

    it('are refused when unknown, without a hint about near misses', async () => {
      const { secret } = await createTestPartner(gateway);
      const unknown = formatApiKey('test', new Uint8Array(24).fill(7));
      const wrong = [unknown, secret.slice(0, -1), `${secret}x`, secret.toUpperCase(), secret.replace('test', 'live')];
      wrong.push(`${secret}, ${secret}`, 'x', 'till_test_', "' or '1'='1", 'x'.repeat(5_000), `"${secret}"`);
      const answers = new Set<string>();
      for (const key of wrong) {
        const response = await list({ 'api-key': key });
        assert.deepEqual([response.statusCode, response.json().code], [401, 'invalid_api_key'], key);
        answers.add(response.body);
      }
      assert.equal(answers.size, 1);
    });

    it('end when they expire', async () => {
      const expiresAt = new Date(time.clock.nowMs() + 60_000);
      const { headers } = await createTestPartner(gateway, { key: { expiresAt } });
      assert.equal((await list(headers)).statusCode, 200);
      await time.advance(59_999);
      assert.equal((await list(headers)).statusCode, 200);
      await time.advance(1);
      assert.deepEqual(await refusal(gateway, { url: '/v1/merchants', headers }), [401, 'invalid_api_key']);
    });

    it('end when they are revoked, and again changes nothing', async () => {
      const { headers, key } = await createTestPartner(gateway);
      assert.equal((await list(headers)).statusCode, 200);
      for (let times = 0; times < 2; times += 1) await revokeKey(gateway, { actor: 'operator', keyId: key.id });
      await time.advance(5_000);
      assert.deepEqual(await refusal(gateway, { url: '/v1/merchants', headers }), [401, 'invalid_api_key']);
      await assert.rejects(revokeKey(gateway, { actor: 'operator', keyId: 'key_x' }), { code: 'api_key_not_found' });
      const rows = await gateway.db.sql`select 1 from audit_log where subject = ${key.id} and action = 'key.revoked'`;
      assert.equal(rows.length, 1);
    });

    it('rest while their partner is disabled', async () => {
      const { headers, partner } = await createTestPartner(gateway);
      const disable = (isDisabled: boolean) =>
        changePartner(gateway, { actor: 'operator', partnerId: partner.id, changes: { isDisabled } });
      assert.equal((await list(headers)).statusCode, 200);
      await disable(true);
      await time.advance(5_000);
      assert.deepEqual(await refusal(gateway, { url: '/v1/merchants', headers }), [401, 'unauthorized']);
      await disable(false);
      await time.advance(5_000);
      assert.equal((await list(headers)).statusCode, 200);
    });

    it('are limited to their scopes', async () => {
      const { partner, headers: all } = await createTestPartner(gateway);
      const { id } = await createTestMerchant(gateway, all);
      const keyWith = async (...scopes: Scope[]): Promise<Headers> => ({
        'api-key': (await createTestKey(gateway, partner.id, { key: { scopes } })).secret,
      });
      const reads = [`/v1/merchants`, `/v1/merchants/${id}`, `/v1/merchants/${id}/settlements`];
      const writes = [
        { method: 'POST', url: '/v1/merchants' },
        { method: 'PATCH', url: `/v1/merchants/${id}` },
        { method: 'POST', url: `/v1/merchants/${id}/settlements/crypto` },
        { method: 'PUT', url: `/v1/merchants/${id}/settlements/crypto/crypto_x` },
        { method: 'DELETE', url: `/v1/merchants/${id}/settlements/crypto/crypto_x` },
        { method: 'DELETE', url: `/v1/merchants/${id}` },
      ] as const;
      const [reader, writer, neither] = [
        await keyWith('merchants:read'),
        await keyWith('merchants:write', 'destinations:write'),
        await keyWith('gateway', 'payments:read'),
      ];
      for (const url of reads) {
        assert.equal((await gateway.call({ url, headers: reader })).statusCode, 200);
        for (const headers of [writer, neither]) {
          assert.deepEqual(await refusal(gateway, { url, headers }), [403, 'forbidden']);
        }
      }
      for (const { method, url } of writes) {
        for (const headers of [reader, neither]) {
          const response = await gateway.call({ method, url, headers });
          assert.deepEqual([response.statusCode, response.json().code], [403, 'forbidden']);
          assert.match(
            response.json().message,
            url.includes('/settlements') ? /destinations:write/ : /merchants:write/,
          );
        }
      }
      const changed = await gateway.call({
        method: 'PATCH',
        url: `/v1/merchants/${id}`,
        headers: writer,
        payload: { merchantName: 'Written' },
      });
      assert.equal(changed.statusCode, 200);
    });

    it('are rotated with an overlap in which both work', async () => {
      const { partner, headers } = await createTestPartner(gateway);
      const { id } = await createTestMerchant(gateway, headers);
      const settings: Parameters<typeof createTestKey>[2] = {
        key: { merchantIds: [id], scopes: ['merchants:read'], label: 'Till 4' },
      };
      const old = await createTestKey(gateway, partner.id, settings);
      const rotated = await rotateKey(gateway, {
        actor: 'operator',
        keyId: old.key.id,
        overlapMs: 3_600_000,
        expiresAt: null,
      });
      assert.notEqual(rotated.secret, old.secret);
      const { label, scopes, merchantIds, rotatedFrom } = rotated.key;
      assert.deepEqual([label, scopes, merchantIds, rotatedFrom], ['Till 4', ['merchants:read'], [id], old.key.id]);
      const [before, now] = [{ 'api-key': old.secret }, { 'api-key': rotated.secret }];
      await time.advance(3_599_999);
      assert.deepEqual([(await list(before)).statusCode, (await list(now)).statusCode], [200, 200]);
      await time.advance(1);
      assert.deepEqual([await codeFor(before), await codeFor(now)], ['invalid_api_key', undefined]);
      const again = rotateKey(gateway, { actor: 'operator', keyId: old.key.id, overlapMs: 0, expiresAt: null });
      await assert.rejects(again, { code: 'invalid_state' });
      await assert.rejects(rotateKey(gateway, { actor: 'operator', keyId: 'key_x', overlapMs: 0, expiresAt: null }), {
        code: 'api_key_not_found',
      });
    });

    it('say which merchant a payment is about, in a header', async () => {
      const { headers } = await createTestPartner(gateway);
      const { id } = await createTestMerchant(gateway, headers);
      const routes = [
        { method: 'POST', url: '/v1/payments' },
        { method: 'GET', url: '/v1/payments/pay_x' },
        { method: 'GET', url: '/v1/payments/pay_x/status' },
        { method: 'POST', url: '/v1/payments/pay_x/cancel' },
      ] as const;
      for (const route of routes) {
        const call = (more: Headers) => refusal(gateway, { ...route, headers: { ...headers, ...more } });
        assert.deepEqual(await call({}), [401, 'missing_merchant_id'], route.url);
        assert.deepEqual(await call({ 'merchant-id': '' }), [401, 'missing_merchant_id']);
        assert.deepEqual(await call({ 'pay-version': '2030-01-01' }), [400, 'unknown_api_version']);
        for (const unknown of ['mrch_01KHRZ5Q8MB2N4P6R8T0V2X4Z6', 'x', `${id} `, `${id}, ${id}`, "' or true --"]) {
          assert.deepEqual(await call({ 'merchant-id': unknown }), [404, 'merchant_not_found'], unknown);
        }
        const [, code] = await call({ 'merchant-id': id });
        assert.equal(code, route.url === '/v1/payments' ? 'params_validation' : 'payment_not_found');
      }
    });

    it('are asked for the merchant on every route of the payments of one merchant', async () => {
      const { headers } = await createTestPartner(gateway);
      const routes = operations('/v1/').filter(({ requiredHeaders }) => requiredHeaders.includes('Merchant-Id'));
      const paths = routes.map(({ method, path }) => `${method} ${path}`);
      const specified = [
        'POST /v1/payments',
        'GET /v1/payments/{id}',
        'GET /v1/merchants/payments',
        'POST /v1/refunds',
      ];
      for (const path of specified) assert.ok(paths.includes(path), path);
      for (const { method, url } of routes) {
        assert.deepEqual(await refusal(gateway, { method, url, headers }), [401, 'missing_merchant_id'], url);
      }
    });

    it('are stored as a hash only, and issued only for partners and merchants that exist', async () => {
      const { secret, key, partner } = await createTestPartner(gateway);
      const [row] = await gateway.db.sql`select k::text as text from api_keys k where id = ${key.id}`;
      const entries = await gateway.db.sql`select a::text as text from audit_log a where subject = ${key.id}`;
      for (const { text } of [row, ...entries] as { text: string }[]) assert.ok(!text.includes(secret.slice(10, -4)));
      const settings = {
        actor: 'operator',
        mode: 'test',
        label: 'x',
        scopes: null,
        addresses: null,
        expiresAt: null,
      } as const;
      await assert.rejects(issueKey(gateway, { ...settings, partnerId: 'prtn_x', merchantIds: null }), {
        code: 'partner_not_found',
      });
      await assert.rejects(issueKey(gateway, { ...settings, partnerId: partner.id, merchantIds: ['mrch_x'] }), {
        code: 'merchant_not_found',
      });
      await assert.rejects(changePartner(gateway, { actor: 'operator', partnerId: 'prtn_x', changes: {} }), {
        code: 'partner_not_found',
      });
    });

    it('remember when they were used last', async () => {
      const { headers, key } = await createTestPartner(gateway);
      const lastUse = async () =>
        (await gateway.db.sql<{ at: Date | null }[]>`select last_used_at as at from api_keys where id = ${key.id}`)[0]
          ?.at;
      await gateway.keyUses.flush(gateway);
      assert.equal(await lastUse(), null);
      await list(headers);
      await time.advance(1_000);
      await list(headers);
      const usedAtMs = time.clock.nowMs();
      await time.advance(1_000);
      assert.equal(await lastUse(), null, 'a request costs no write');
      await gateway.keyUses.flush(gateway);
      assert.equal((await lastUse())?.getTime(), usedAtMs);
      await list({ 'api-key': 'not a key' });
      await gateway.keyUses.flush(gateway);
      assert.equal((await lastUse())?.getTime(), usedAtMs);
    });

    it('that are in use cost no query', async () => {
      const { headers } = await createTestPartner(gateway);
      await list(headers);
      const pools = [gateway.db, gateway.listDb].map((db) => ({ db, sql: db.sql }));
      let queries = 0;
      for (const { db, sql } of pools) {
        const get = () => {
          queries += 1;
          return sql;
        };
        Object.defineProperty(db, 'sql', { get, configurable: true });
      }
      try {
        for (let count = 0; count < 50; count += 1) {
          const [status, code] = await refusal(gateway, { url: '/v1/merchants?limit=none', headers });
          assert.deepEqual([status, code], [400, 'params_validation'], 'let in, and refused for its query');
        }
        assert.equal(queries, 0);
        await list(headers);
        assert.equal(queries, 1, 'a list reads only the list');
      } finally {
        for (const { db, sql } of pools) Object.defineProperty(db, 'sql', { value: sql });
      }
    });
  });

  describe('a key revoked on one node', () => {
    async function twoNodes(world?: ManualTime) {
      const a = await startTestGateway(world ? { world } : {});
      const b = await startTestGateway({ databaseUrl: a.databaseUrl, ...(world && { world }) });
      const { headers, key } = await createTestPartner(a);
      const status = async (node: TestGateway) => (await node.call({ url: '/v1/merchants', headers })).statusCode;
      assert.deepEqual([await status(a), await status(b)], [200, 200]);
      const stop = async () => {
        await b.stop();
        await a.stop();
      };
      return { a, b, status, stop, revoke: () => revokeKey(a, { actor: 'operator', keyId: key.id }) };
    }

    it('is refused by the others within five seconds of the clock, even when nothing runs in the background', async () => {
      const time = manualTime();
      const { a, b, status, stop, revoke } = await twoNodes({
        ...time,
        timers: { ...time.timers, after: () => () => {} },
      });
      await revoke();
      await time.advance(5_000);
      assert.deepEqual([await status(a), await status(b)], [401, 401]);
      await stop();
    });

    it('is refused by the others soon, because keys in use are read again in the background', ONLY_LONG, async () => {
      const time = manualTime();
      const { b, status, stop, revoke } = await twoNodes(time);
      await revoke();
      assert.equal(await status(b), 200, 'no time has passed');
      await time.advance(2_000);
      // The clock stands still from here on, so only the background read can bring the news.
      await until('node B refuses the key', async () => (await status(b)) === 401);
      await stop();
    });

    it('is refused by the others within five real seconds', ONLY_LONG, async () => {
      const { b, status, stop, revoke } = await twoNodes();
      await revoke();
      await until('node B refuses the key', async () => (await status(b)) === 401, { withinMs: 5_000 });
      await stop();
    });
  });

  describe('rate limits', ALONE, () => {
    const list = (gateway: TestGateway, headers: Headers, remoteAddress = '203.0.113.1') =>
      gateway.call({ url: '/v1/merchants', headers, remoteAddress });

    it('are generous by default', () => {
      const read = readConfig({});
      assert.ok('config' in read);
      assert.deepEqual([read.config.keyRequestsPerSecond, read.config.addressRequestsPerSecond], [500, 100]);
    });

    it('hold each key to its requests a second, and say so in the headers once half are gone', async () => {
      const time = manualTime();
      const gateway = await startTestGateway({ world: time, config: { keyRequestsPerSecond: 3 } });
      const [one, other] = [await createTestPartner(gateway), await createTestPartner(gateway)];
      for (const left of [2, 1, 0]) {
        const response = await list(gateway, one.headers);
        assert.equal(response.statusCode, 200);
        assert.equal(response.headers['ratelimit-policy'], left === 2 ? undefined : '"key";q=3;w=1');
        assert.equal(response.headers.ratelimit, left === 2 ? undefined : `"key";r=${left};t=1`);
        assert.equal(response.headers['retry-after'], undefined);
      }
      const refused = await list(gateway, { ...one.headers, 'pay-version': '2099-01-01' });
      assert.deepEqual(
        [refused.statusCode, refused.json().code],
        [429, 'rate_limited'],
        'before the version is looked up',
      );
      assert.equal(refused.headers['retry-after'], '1');
      assert.equal(refused.headers['ratelimit-policy'], '"key";q=3;w=1');
      assert.equal(refused.headers.ratelimit, '"key";r=0;t=1');
      assert.equal((await list(gateway, one.headers, '203.0.113.2')).statusCode, 429, 'wherever it comes from');
      assert.equal((await list(gateway, other.headers)).statusCode, 200, 'another key is not its business');

      await time.advance(334);
      assert.equal((await list(gateway, one.headers)).statusCode, 200);
      assert.equal((await list(gateway, one.headers)).statusCode, 429);
      await time.advance(10_000);
      const statuses = [];
      for (let count = 0; count < 4; count += 1) statuses.push((await list(gateway, one.headers)).statusCode);
      assert.deepEqual(statuses, [200, 200, 200, 429], 'a rest saves up one second, not ten');
      const metrics = await gateway.metrics.registry.metrics();
      assert.match(metrics, /till_http_refusals_total\{reason="rate_limited"\} 4/);
      await gateway.stop();
    });

    it('hold each address to its requests without a known key, before credentials are checked', async () => {
      const time = manualTime();
      const gateway = await startTestGateway({ world: time, config: { addressRequestsPerSecond: 2 } });
      const { headers } = await createTestPartner(gateway);
      assert.equal((await list(gateway, headers)).statusCode, 200);
      const unknown = { 'api-key': formatApiKey('test', new Uint8Array(24)) };
      const attempts: [headers: Headers, address: string, status: number][] = [
        [unknown, '203.0.113.1', 401],
        [{ 'api-key': 'nonsense' }, '203.0.113.1', 429],
        [{}, '203.0.113.1', 429],
        [headers, '203.0.113.1', 200],
        [{}, '203.0.113.2', 401],
        [{}, '203.0.113.2', 401],
        [{}, '203.0.113.2', 429],
        [{}, '::ffff:203.0.113.2', 429],
        [unknown, '2001:db8:1:2::1', 401],
        [unknown, '2001:db8:1:2::2', 401],
        [unknown, '2001:db8:1:2:ffff::3', 429],
        [unknown, '2001:db8:1:3::1', 401],
        [{ ...unknown, 'x-forwarded-for': '198.51.100.9' }, '203.0.113.2', 429],
      ];
      for (const [index, [as, address, status]] of attempts.entries()) {
        const response = await list(gateway, as, address);
        assert.equal(response.statusCode, status, `${index}: ${address}`);
        if (status !== 429) continue;
        assert.equal(response.json().code, 'rate_limited');
        assert.equal(response.headers['retry-after'], '1');
        assert.equal(response.headers['ratelimit-policy'], '"address";q=2;w=1');
        assert.equal(response.headers.ratelimit, '"address";r=0;t=1');
      }
      await time.advance(1_000);
      assert.equal((await list(gateway, {}, '203.0.113.1')).statusCode, 401);
      await gateway.stop();
    });

    it('count the client behind a trusted proxy, and ignore the header of others', async () => {
      const gateway = await startTestGateway({
        world: manualTime(),
        config: { addressRequestsPerSecond: 1, trustProxy: ['10.0.0.0/8'] },
      });
      const via = (proxy: string, client: string) => list(gateway, { 'x-forwarded-for': client }, proxy);
      assert.equal((await via('10.0.0.1', '198.51.100.1')).statusCode, 401);
      assert.equal((await via('10.0.0.2', '198.51.100.1')).statusCode, 429);
      assert.equal((await via('10.0.0.1', '198.51.100.2')).statusCode, 401);
      assert.equal(
        (await via('10.0.0.1', '192.0.2.66, 198.51.100.2')).statusCode,
        429,
        'what the client made up is ignored',
      );
      assert.equal((await via('203.0.113.9', '198.51.100.3')).statusCode, 401);
      assert.equal((await via('203.0.113.9', '198.51.100.4')).statusCode, 429);
      await gateway.stop();
    });
  });

  describe('gateway routes', ALONE, () => {
    const url = '/v1/gateway/payment/pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6';
    let gateway: TestGateway;
    let key: string;
    let appId: string;
    before(async () => {
      gateway = await startTestGateway();
      key = (await createTestPartner(gateway)).secret;
      appId = (await createTestApp(gateway)).id;
    });
    after(() => gateway.stop());
    const get = (headers: Headers) => refusal(gateway, { url, headers });

    it('have versions, which anybody may ask for', async () => {
      const { versions, default: pinned } = (await gateway.call({ url: '/versions' })).json();
      assert.deepEqual(versions, [
        { version: '2026-02-18', isPreview: false },
        { version: '2026-02-19.preview', isPreview: true },
      ]);
      assert.equal(pinned, '2026-02-18');
    });

    it('let in any valid key, or a wallet app with a client id', async () => {
      for (const headers of [
        { 'api-key': key },
        { 'app-id': appId, 'client-id': 'did:key:z6Mk' },
        { 'api-key': key, 'client-id': 'some client' },
        { 'api-key': key, 'app-id': '' },
      ]) {
        assert.deepEqual(await get(headers as unknown as Headers), [404, 'payment_not_found']);
      }
    });

    it('refuse two identities at once, like every other route', async () => {
      const other = (await createTestPartner(gateway)).secret;
      const conflicts: Headers[] = [
        { 'api-key': key, 'app-id': appId, 'client-id': 'x' },
        { 'api-key': key, 'app-id': appId },
        { 'api-key': key, 'x-api-key': other },
        { 'api-key': `${key}, ${other}` },
      ];
      const routes = ['/v1/payments', '/v1/merchants', '/v1/merchants/mrch_1/payments', '/v1/people', url];
      for (const route of routes) {
        for (const headers of conflicts) {
          assert.deepEqual(await refusal(gateway, { url: route, headers }), [400, 'conflicting_auth_headers'], route);
        }
      }
      const twice = { 'api-key': key, 'x-api-key': key };
      assert.equal((await gateway.call({ url: '/v1/payments', headers: twice })).statusCode, 200);
    });

    it('refuse every other combination with a code of its own', async () => {
      const cases: [headers: Headers, status: number, code: string][] = [
        [{}, 401, 'missing_auth_headers'],
        [{ 'api-key': '', 'app-id': '', 'client-id': '' }, 401, 'missing_auth_headers'],
        [{ 'client-id': 'x' }, 401, 'missing_app_id'],
        [{ 'app-id': appId }, 401, 'missing_client_id'],
        [{ 'app-id': appId, 'client-id': '' }, 401, 'missing_client_id'],
        [{ 'app-id': 'app_01KHRZ5Q8MB2N4P6R8T0V2X4Z6', 'client-id': 'x' }, 401, 'invalid_app_id'],
        [{ 'app-id': "' or true --", 'client-id': 'x' }, 401, 'invalid_app_id'],
        [{ 'app-id': appId.toLowerCase(), 'client-id': 'x' }, 401, 'invalid_app_id'],
        [{ 'api-key': key, 'app-id': appId, 'client-id': 'x' }, 400, 'conflicting_auth_headers'],
        [{ 'api-key': key, 'app-id': appId }, 400, 'conflicting_auth_headers'],
        [{ 'api-key': 'unknown', 'app-id': 'unknown' }, 400, 'conflicting_auth_headers'],
        [{ 'api-key': 'unknown' }, 401, 'invalid_api_key'],
        [{ 'app-id': 'é', 'pay-version': 'x' }, 400, 'header_not_ascii'],
        [{ 'pay-version': 'x' }, 400, 'invalid_api_version'],
        [{ 'app-id': appId, 'client-id': 'x', 'pay-version': '2020-01-01' }, 400, 'api_version_downgrade'],
        [{ 'app-id': appId, 'client-id': 'x', 'pay-version': '2030-01-01' }, 400, 'unknown_api_version'],
      ];
      for (const [headers, status, code] of cases) assert.deepEqual(await get(headers), [status, code], code);
    });

    it('refuse a key without the scope, one that was revoked, and an app that was removed', async () => {
      const { partner } = await createTestPartner(gateway);
      const narrow = await createTestKey(gateway, partner.id, { key: { scopes: ['merchants:read'] } });
      assert.deepEqual(await get({ 'api-key': narrow.secret }), [403, 'forbidden']);
      await revokeKey(gateway, { actor: 'operator', keyId: narrow.key.id });
      const { id } = await createTestApp(gateway);
      await unregisterApp(gateway, { actor: 'operator', appId: id });
      assert.deepEqual(await get({ 'app-id': id, 'client-id': 'x' }), [401, 'invalid_app_id']);
      await assert.rejects(unregisterApp(gateway, { actor: 'operator', appId: id }), { code: 'invalid_app_id' });
    });

    it('limit wallets by address', async () => {
      const limited = await startTestGateway({ world: manualTime(), config: { addressRequestsPerSecond: 1 } });
      const app = await createTestApp(limited);
      const headers = { 'app-id': app.id, 'client-id': 'x' };
      const from = (remoteAddress: string) => refusal(limited, { url, headers, remoteAddress });
      assert.deepEqual(await from('203.0.113.1'), [404, 'payment_not_found']);
      assert.deepEqual(await from('203.0.113.1'), [429, 'rate_limited']);
      assert.deepEqual(await from('203.0.113.2'), [404, 'payment_not_found']);
      await limited.stop();
    });

    it('may be called by pages of any origin, and no other route may', async () => {
      const origin = 'https://wallet.example';
      const asked =
        'content-type,api-key,app-id,client-id,wcp-version,pay-version,api-version,sdk-name,sdk-version,sdk-platform';
      const preflight = (to: string, method: string) =>
        gateway.app.inject({
          method: 'OPTIONS',
          url: to,
          headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': asked },
        });
      for (const [to, method] of [
        [url, 'GET'],
        [`${url}/status`, 'GET'],
        [`${url}/cancel`, 'POST'],
        [`${url}/options`, 'POST'],
        [`${url}/fetch`, 'POST'],
        [`${url}/confirm`, 'POST'],
      ] as const) {
        const response = await preflight(to, method);
        assert.equal(response.statusCode, 204, to);
        assert.equal(response.headers['access-control-allow-origin'], '*');
        const allowed = String(response.headers['access-control-allow-headers']).toLowerCase().split(/, */);
        for (const name of asked.split(',')) assert.ok(allowed.includes(name), `${name} on ${to}`);
        assert.ok(String(response.headers['access-control-allow-methods']).includes(method));
      }
      // Errors must be readable too, or a wallet could not tell what went wrong.
      const answer = await gateway.app.inject({ url, headers: { origin } });
      assert.equal(answer.statusCode, 401);
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      const exposed = String(answer.headers['access-control-expose-headers']).toLowerCase().split(/, */);
      for (const name of ['retry-after', 'request-id']) assert.ok(exposed.includes(name));

      assert.equal((await preflight('/v1/merchants', 'GET')).headers['access-control-allow-origin'], undefined);
      const own = await gateway.app.inject({ url: '/v1/merchants', headers: { origin } });
      assert.equal(own.headers['access-control-allow-origin'], undefined);
    });
  });
});
