import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { outdatedFiles } from '../../scripts/generate.ts';
import { clearAlert, raiseAlert } from '../../src/actions/alerts.ts';
import { ALERT_NAMES, runbookOf } from '../../src/domain/alert.ts';
import { CATALOGUE } from '../../src/errors.ts';
import { serveMetrics } from '../../src/http/metrics-server.ts';
import { ORDER_OF_USE } from '../../src/http/reference/order-of-use.ts';
import { SAMPLES } from '../../src/http/samples.ts';
import { createTestPartner, startTestGateway, type TestGateway } from '../gateway.ts';
import { exampleProblems, operations } from '../openapi.ts';

/** The codes of the specification, as it lists them. */
const SPECIFIED =
  'rate_limited, invalid_params, params_validation, payment_not_found, idempotency_conflict, internal_error, ' +
  'invalid_api_key, unauthorized, forbidden, invalid_state, payment_expired, quote_expired, missing_api_key, ' +
  'missing_merchant_api_key, missing_merchant_id, header_not_ascii, not_sandbox_api_key, merchant_not_found, ' +
  'merchant_exists, api_key_not_found, partner_not_found, customer_not_found, wallet_not_found, executor_not_found, ' +
  'missing_app_id, missing_client_id, invalid_app_id, conflicting_auth_headers, missing_auth_headers, ' +
  'invalid_api_version, unknown_api_version, api_version_downgrade, sanctioned_user, payment_not_succeeded, ' +
  'already_refunded';

const { version: VERSION } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));

describe('the gateway, as documented', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.stop());

  it('has exactly the 35 error codes of the specification', () => {
    const codes = SPECIFIED.split(', ');
    assert.equal(codes.length, 35);
    assert.deepEqual(Object.keys(CATALOGUE).sort(), codes.sort());
  });

  it('is written down as it is: no generated file is out of date', async () => {
    assert.deepEqual(await outdatedFiles(), []);
  });

  it('is described as OpenAPI 3.1, the same for machines that ask and for people who read the repository', async () => {
    const served = await gateway.app.inject('/openapi.json');
    assert.equal(served.statusCode, 200);
    const validator = new Validator();
    const result = await validator.validate(served.json());
    assert.deepEqual(result.errors ?? [], []);
    assert.ok(result.valid);
    assert.equal(validator.version, '3.1');
    assert.equal(served.json().openapi, '3.1.0');
    const methods = operations('/v1/merchants').map(({ method, path }) => `${method} ${path}`);
    for (const route of [
      'POST /v1/merchants',
      'GET /v1/merchants',
      'GET /v1/merchants/{merchantId}',
      'PATCH /v1/merchants/{merchantId}',
      'DELETE /v1/merchants/{merchantId}',
      'GET /v1/merchants/{merchantId}/settlements',
      'POST /v1/merchants/{merchantId}/settlements/crypto',
      'PUT /v1/merchants/{merchantId}/settlements/crypto/{id}',
      'DELETE /v1/merchants/{merchantId}/settlements/crypto/{id}',
    ]) {
      assert.ok(methods.includes(route), route);
    }
  });

  it('is shown by examples of real values, each valid by its own schema', () => {
    assert.deepEqual(exampleProblems(), []);
    const described = operations('/').map(({ method, path }) => `${method?.toLowerCase()} ${path}`);
    assert.deepEqual(
      [...ORDER_OF_USE, ...Object.keys(SAMPLES)].filter((name) => !described.includes(name)),
      [],
      'no order and no sample of a route that is gone',
    );
  });

  it('can be read as a page that needs nothing from elsewhere', async () => {
    const page = await gateway.app.inject('/docs');
    assert.equal(page.statusCode, 200);
    assert.match(String(page.headers['content-type']), /^text\/html/);
    const policy = String(page.headers['content-security-policy']);
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    const links = [...page.body.matchAll(/\s(?:src|href)="([^"]*)"/g)].map(([, target = '']) => target);
    assert.ok(links.length > 0);
    for (const target of links) assert.doesNotMatch(target, /^(https?:)?\/\//, 'nothing leads to another host');
    assert.doesNotMatch(page.body, /<script/, 'it can be read where the pages were not built');
    for (const { path } of operations('/v1/')) assert.ok(page.body.includes(path), `${path} is on the page`);
  });

  it('comes with headers that keep browsers from doing harm, on answers and on refusals', async () => {
    const { headers } = await createTestPartner(gateway);
    const requests = [
      '/health',
      '/v1/merchants',
      '/v1/no',
      '/v1/merchants/%ZZ',
      '/openapi.json',
      '/v1/gateway/payment/x',
    ];
    for (const url of requests) {
      for (const as of [headers, {}]) {
        const response = await gateway.app.inject({ url, headers: as });
        assert.equal(response.headers['x-content-type-options'], 'nosniff', url);
        assert.equal(response.headers['cache-control'], url === '/openapi.json' ? 'no-cache' : 'no-store', url);
        assert.match(String(response.headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/);
        assert.equal(response.headers['x-powered-by'], undefined);
        assert.equal(response.headers.server, undefined);
      }
    }
    const secure = await startTestGateway({ config: { publicUrl: 'https://pay.example.com' } });
    const response = await secure.app.inject('/health');
    assert.match(String(response.headers['strict-transport-security']), /max-age=\d+/);
    await secure.stop();
  });

  it('names every alert on the page for operators, with its meaning and action, where its runbook link leads', async () => {
    const page = await readFile(join(import.meta.dirname, '../../docs/operating.md'), 'utf8');
    const rows = [...page.matchAll(/^\| <a id="alert-\w+"><\/a>`(\w+)` \| ([^|]+)\| ([^|]+)\|$/gm)];
    const alerts = rows.filter(([, name = '']) => (ALERT_NAMES as readonly string[]).includes(name));
    assert.deepEqual(alerts.map(([, name]) => name).sort(), [...ALERT_NAMES]);
    for (const [, name, meaning = '', remedy = ''] of alerts) assert.ok(meaning.trim() && remedy.trim(), name);
    for (const name of ALERT_NAMES) {
      const [file, anchor] = runbookOf(name).split('#');
      assert.equal(file, 'docs/operating.md');
      assert.equal(page.split(`<a id="${anchor}"></a>\`${name}\``).length, 2, name);
    }
  });

  it('carries a Request-Id: the client’s own if it is usable, or a new one', async () => {
    const idOf = async (given?: string, url = '/health') => {
      const response = await gateway.app.inject({ url, headers: given === undefined ? {} : { 'request-id': given } });
      return String(response.headers['request-id']);
    };
    for (const given of ['a', 'req-1.2:3_4', 'x'.repeat(128), '0e2f6c9e-5b0f-4d5e-9a57-1f6f6f0a2f10']) {
      assert.equal(await idOf(given), given);
      assert.equal(await idOf(given, '/v1/no'), given, 'on refusals too');
      assert.equal(await idOf(given, '/v1/merchants/%ZZ'), given);
    }
    const made = new Set<string>();
    for (const given of [undefined, undefined, '', 'x'.repeat(129), 'a b', 'a\tb', '<script>', 'ä', '"quoted"']) {
      const id = await idOf(given);
      assert.match(id, /^req_[\w.-]{8,}$/);
      made.add(id);
    }
    assert.equal(made.size, 9);
  });

  it('says whether it is alive and ready, to anyone', async () => {
    const health = await gateway.call({ url: '/health' });
    assert.deepEqual([health.statusCode, health.json()], [200, { status: 'ok', version: VERSION }]);
    const ready = await gateway.call({ url: '/ready' });
    assert.equal(ready.statusCode, 200);
    assert.equal(ready.json().ready, true);
    assert.equal(ready.json().database, 'ok');
    const head = await gateway.app.inject({ method: 'HEAD', url: '/health' });
    assert.deepEqual([head.statusCode, head.body], [200, '']);
  });

  it('stays ready while a newer version migrates its database, so that its requests do not fail during an update', async () => {
    const { sql } = gateway.db;
    await sql`insert into migrations (id, name, sha256) values (9999, '9999_tomorrow.sql', 'x')`;
    const ready = await gateway.call({ url: '/ready' });
    assert.deepEqual([ready.statusCode, ready.json().database], [200, 'ok']);
    await sql`delete from migrations where id = 9999`;
  });

  it('is not ready on a database that lacks a migration of its version', async () => {
    const { sql } = gateway.db;
    const [last] = await sql<{ id: number; name: string; sha256: string }[]>`
      delete from migrations where id = (select max(id) from migrations) returning id, name, sha256`;
    assert.ok(last);
    const ready = await gateway.call({ url: '/ready' });
    assert.deepEqual([ready.statusCode, ready.json().ready, ready.json().database], [503, false, 'not_migrated']);
    await sql`insert into migrations (id, name, sha256) values (${last.id}, ${last.name}, ${last.sha256})`;
    assert.equal((await gateway.call({ url: '/ready' })).statusCode, 200);
  });

  it('can be watched on a port of its own: requests, and alerts while they are raised', async () => {
    const metrics = await serveMetrics(gateway, { host: '127.0.0.1', port: 0 });
    const taken = { host: '127.0.0.1', port: metrics.port };
    await assert.rejects(serveMetrics(gateway, taken), /Set METRICS_PORT to a free port/, 'the setting that is meant');
    const scrape = async (path = '/metrics', method = 'GET') => {
      const response = await fetch(`http://127.0.0.1:${metrics.port}${path}`, { method });
      return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
    };
    await gateway.call({ url: '/health' });
    const quiet = await scrape();
    assert.equal(quiet.status, 200);
    assert.match(quiet.type ?? '', /^text\/plain/);
    assert.match(quiet.text, /till_http_request_seconds_count\{[^}]*route="\/health"[^}]*\} [1-9]/);
    assert.doesNotMatch(quiet.text, /till_alert\{/);

    const alert = {
      name: 'job_failing',
      subject: 'prune-idempotency-keys',
      message: 'It failed three times in a row.',
    } as const;
    for (let times = 0; times < 2; times += 1) await raiseAlert(gateway, alert);
    await raiseAlert(gateway, { ...alert, subject: 'record-key-uses' });
    assert.match(
      (await scrape()).text,
      /till_alert\{name="job_failing"\} 2/,
      'one per subject, however often it is seen',
    );
    for (const subject of [alert.subject, 'record-key-uses']) await clearAlert(gateway, { ...alert, subject });
    assert.doesNotMatch((await scrape()).text, /till_alert\{/);

    assert.equal((await scrape('/v1/merchants')).status, 404, 'nothing else is there');
    assert.equal((await scrape('/metrics', 'POST')).status, 404);
    assert.equal((await gateway.app.inject('/metrics')).statusCode, 404, 'and it is not on the public port');
    await metrics.close();
  });
});
