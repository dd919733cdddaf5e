import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { manualTime } from '../manual-time.ts';
import { operations } from '../openapi.ts';
import { standInPage } from './checkout-page.ts';

const ROOT = join(import.meta.dirname, '../..');
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8' };
const PROGRAMS: readonly Record<string, string>[] = [{}, { accept: '*/*' }, { accept: 'application/json' }];

describe('pages for people', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({ page: standInPage() });
  });
  after(() => gateway.stop());

  const open = (url: string, headers: Record<string, string> = BROWSER) => gateway.app.inject({ url, headers });

  it('has one at the root with a description and links; programs get an error as JSON', async () => {
    const page = await open('/');
    assert.equal(page.statusCode, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.match(page.body, /<h1>A payment gateway runs here.<\/h1>/);
    for (const path of ['/docs', '/openapi.json', '/ready', '/health']) {
      assert.match(page.body, new RegExp(`<a class="whole" href="${path}">`));
    }
    assert.doesNotMatch(page.body, /\/demo|\/sandbox|<script|style=/, 'no shop outside the sandbox');
    for (const headers of PROGRAMS) {
      const index = await open('/', headers);
      assert.deepEqual([index.statusCode, index.json().code], [404, 'invalid_params']);
      assert.match(index.json().message, /openapi\.json/);
    }
    assert.match((await open('/?utm_source=x')).body, /A payment gateway runs here/);
  });

  it('has one for every address that is not there; programs get the error as JSON', async () => {
    for (const url of [
      '/nowhere',
      '/demo',
      '/index.html',
      '/docs/x',
      '/v1',
      '/icons/none.svg',
      '/%ZZ',
      `/${'x'.repeat(9_000)}`,
    ]) {
      const page = await open(url);
      assert.ok([400, 404].includes(page.statusCode), url.slice(0, 40));
      assert.equal(page.headers['content-type'], 'text/html; charset=utf-8', url.slice(0, 40));
      assert.match(page.body, /<h1>(There is no such page|This cannot be shown)<\/h1>/);
      assert.match(String(page.headers['content-security-policy']), /default-src 'none'/);
      for (const headers of PROGRAMS) {
        const error = await open(url, headers);
        assert.equal(error.statusCode, page.statusCode);
        assert.equal(error.json().code, 'invalid_params', url.slice(0, 40));
      }
    }
    const hostile = await open('/<script>alert(1)</script>');
    assert.doesNotMatch(hostile.body, /<script/);
    assert.equal((await open('/v1/nowhere')).json().code, 'invalid_params', 'the API answers JSON, whoever asks');
    const posted = await gateway.app.inject({ method: 'POST', url: '/nowhere', headers: BROWSER });
    assert.equal(posted.json().code, 'invalid_params');
  });

  it('sends a person from a slash too many to the page; never to another host', async () => {
    for (const [url, target] of [
      ['/docs/', '/docs'],
      ['/docs//', '/docs'],
      ['/docs/?a=1&b=/', '/docs?a=1&b=/'],
      ['/health/', '/health'],
    ] as const) {
      const response = await open(url);
      assert.deepEqual([response.statusCode, response.headers.location], [308, target]);
      assert.equal((await open(url, {})).json().code, 'invalid_params');
    }
    for (const url of ['//elsewhere.example/', '/%5Celsewhere.example/', '/nowhere/', '/v1/nowhere/']) {
      const response = await open(url);
      assert.deepEqual([response.statusCode, response.headers.location], [404, undefined], url);
    }
  });

  it('has an icon, where browsers look for one unasked', async () => {
    const icon = await open('/favicon.ico', { accept: 'image/avif,image/webp,*/*' });
    assert.deepEqual([icon.statusCode, icon.headers['content-type']], [200, 'image/svg+xml; charset=utf-8']);
    const bare = await startTestGateway();
    assert.equal((await bare.app.inject('/favicon.ico')).statusCode, 404);
    assert.equal((await bare.app.inject({ url: '/', headers: BROWSER })).statusCode, 200, 'plain without a build');
    await bare.stop();
  });

  it('publishes the format of a network’s file, to editors of every origin', async () => {
    const answer = await open('/networks.schema.json');
    assert.deepEqual([answer.statusCode, answer.headers['content-type']], [200, 'application/schema+json']);
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    assert.deepEqual(answer.json(), JSON.parse(readFileSync(join(ROOT, 'networks/schema.json'), 'utf8')));
  });

  it('renders the reference and the contract once, and answers 304 to clients that have them', async () => {
    for (const url of ['/docs', '/openapi.json']) {
      const first = await open(url);
      const { etag } = first.headers;
      assert.equal(first.headers['cache-control'], 'no-cache');
      assert.ok(etag, url);
      const again = await open(url);
      assert.deepEqual([again.headers.etag, again.body], [etag, first.body]);
      const known = await open(url, { ...BROWSER, 'if-none-match': String(etag) });
      assert.deepEqual([known.statusCode, known.body], [304, '']);
      const packed = await open(url, { ...BROWSER, 'accept-encoding': 'br' });
      assert.equal(packed.headers['content-encoding'], 'br');
    }
    let renderings = 0;
    const { swagger } = gateway.app;
    gateway.app.swagger = ((...args: []) => {
      renderings += 1;
      return swagger(...args);
    }) as typeof swagger;
    for (let count = 0; count < 5; count += 1) await Promise.all([open('/docs'), open('/openapi.json')]);
    assert.equal(renderings, 0);
  });

  it('counts them like requests without a key', async () => {
    // The clock stands still, so that no new request is allowed meanwhile.
    const { clock } = manualTime();
    const slow = await startTestGateway({ world: { clock }, config: { addressRequestsPerSecond: 2 } });
    const statuses: number[] = [];
    for (const url of ['/docs', '/openapi.json', '/', '/docs']) {
      statuses.push((await slow.app.inject({ url, headers: BROWSER })).statusCode);
    }
    assert.deepEqual(statuses, [200, 200, 429, 429]);
    await slow.stop();
  });

  it('lists endpoints in the order of use, with the old ones folded away and the origin of this gateway in examples', async () => {
    const { body } = await open('/docs');
    const place = (anchor: string) => body.indexOf(`<article class="operation" id="${anchor}"`);
    const order = [
      'post-v1-merchants',
      'post-v1-merchants-merchant-id-settlements-crypto',
      'post-v1-payments',
      'get-v1-payments-id-status',
      'post-v1-refunds',
      'post-v1-gateway-payment-id-options',
      'post-v1-gateway-payment-id-confirm',
      'get-ready',
    ];
    const places = order.map(place);
    assert.ok(places.every((at) => at > 0));
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    const folded = body.indexOf('<details class="old">', place('post-v1-payments'));
    assert.ok(place('post-v1-merchant-payment') > folded && folded > place('get-v1-payments'));
    assert.match(body, /&quot;http:\/\/localhost:8080\/\?pid=pay_01KHRZ5Q8MB2N4P6R8T0V2X4Z6&quot;/);
    assert.doesNotMatch(body, /till\.example/);
    for (const { path } of operations('/v1/')) assert.ok(body.includes(path), `${path} is on the page`);
  });
});
