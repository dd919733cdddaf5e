import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { WebhookError } from '../../sdk/src/errors.ts';
import { sign, verify } from '../../sdk/src/webhooks.ts';
import { type BuiltSdk, buildSdk } from './built-sdk.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const BODY = JSON.stringify({ id: 'evt_1', type: 'payment.succeeded', data: { referenceId: 'ORDER-42 – Tee' } });
const MOST_BYTES = 12 * 1024;
/** A receiver that only verifies carries this much. */
const MOST_BYTES_TO_VERIFY = 4 * 1024;

const nowS = () => Math.floor(Date.now() / 1000);
const signed = (fields: Partial<Parameters<typeof sign>[0]> = {}) =>
  sign({ id: 'evt_1', body: BODY, secret: SECRET, ...fields });

describe('webhooks of the client library', () => {
  it('are signed as Standard Webhooks publishes it', async () => {
    const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
    const headers = await sign({ id, body: '{"test": 2432232314}', secret: SECRET, timestampS: 1_614_265_330 });
    assert.equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
    const own = await signed({ timestampS: 1_800_000_000 });
    const hmac = createHmac('sha256', Buffer.from(SECRET.slice(6), 'base64')).update(`evt_1.1800000000.${BODY}`);
    assert.equal(own['webhook-signature'], `v1,${hmac.digest('base64')}`);
  });

  it('are accepted with their event, however a framework shows body and headers', async () => {
    const headers = await signed();
    const expected = JSON.parse(BODY);
    const bytes = new TextEncoder().encode(BODY);
    assert.deepEqual(await verify(BODY, headers, SECRET), expected);
    assert.deepEqual(await verify(bytes, new Headers(headers), SECRET), expected);
    assert.deepEqual(await verify(Buffer.from(BODY), { ...headers, host: 'shop.example' }, [SECRET]), expected);
    assert.deepEqual(await verify(bytes.buffer, upperCased(headers), SECRET), expected);
    const listed = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    assert.deepEqual(await verify(BODY, listed, SECRET), expected);
  });

  it('are accepted while a secret is rotated, on both sides', async () => {
    const [old, fresh] = await Promise.all([signed(), signed({ secret: OTHER })]);
    const both = { ...old, 'webhook-signature': `${fresh['webhook-signature']} ${old['webhook-signature']}` };
    for (const secrets of [SECRET, OTHER, [OTHER, SECRET]]) await verify(BODY, both, secrets);
    await verify(BODY, old, [OTHER, SECRET]);
    const unknown = { ...old, 'webhook-signature': `v2,AAAA v1a,AAAA ${old['webhook-signature']}` };
    await verify(BODY, unknown, SECRET);
  });

  it('are refused if anything about them is wrong', async () => {
    const good = await signed();
    const cases: [problem: string, body: string, headers: Record<string, string | string[]>, secret?: string][] = [
      ['no_match', `${BODY} `, good],
      ['no_match', BODY, good, OTHER],
      ['no_match', BODY, { ...good, 'webhook-id': 'evt_2' }],
      ['no_match', BODY, { ...good, 'webhook-timestamp': String(nowS() + 7) }],
      ['no_match', BODY, { ...good, 'webhook-signature': 'v1,' }],
      ['no_match', BODY, { ...good, 'webhook-signature': 'v1,%%%' }],
      ['no_match', BODY, { ...good, 'webhook-signature': (good['webhook-signature'] ?? '').replace('v1,', 'v2,') }],
      ['no_match', BODY, { ...good, 'webhook-signature': `${'v1,AAAA '.repeat(16)}${good['webhook-signature']}` }],
      ['missing_header', BODY, {}],
      ['missing_header', BODY, { ...good, 'webhook-id': '' }],
      ['missing_header', BODY, { ...good, 'webhook-signature': ['v1,AAAA', good['webhook-signature'] ?? ''] }],
      ['bad_timestamp', BODY, { ...good, 'webhook-timestamp': '1e9' }],
      ['bad_timestamp', BODY, { ...good, 'webhook-timestamp': '-1' }],
      ['too_old', BODY, await signed({ timestampS: nowS() - 301 })],
      ['too_new', BODY, await signed({ timestampS: nowS() + 310 })],
      ['bad_body', '{}', await signed({ body: '{}' })],
      ['bad_body', 'null', await signed({ body: 'null' })],
      ['bad_body', '{', await signed({ body: '{' })],
    ];
    for (const [problem, body, headers, secret = SECRET] of cases) {
      const refused = await verify(body, headers, secret).catch((error) => error);
      assert.ok(refused instanceof WebhookError, `${problem} was accepted`);
      assert.equal(refused.problem, problem);
    }
    const old = await signed({ timestampS: nowS() - 3_000 });
    await verify(BODY, old, SECRET, { toleranceS: 3_600 });
    await assert.rejects(verify(BODY, old, SECRET, { toleranceS: Number.NaN }), { problem: 'too_old' });
  });

  it('need the raw body and a whole secret, and no error repeats the secret', async () => {
    const headers = await signed();
    await assert.rejects(verify(JSON.parse(BODY), headers, SECRET), /as they arrived/);
    for (const secret of ['', 'whsec_', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_MfKQ9r8G*']) {
      const thrown = await verify(BODY, headers, secret).catch((error) => error);
      assert.ok(thrown instanceof TypeError);
      assert.ok(!thrown.message.includes('MfKQ'));
    }
    await assert.rejects(verify(BODY, headers, []), TypeError);
  });
});

describe('the package of the client library', () => {
  let sdk: BuiltSdk;
  before(async () => {
    sdk = await buildSdk();
  });
  after(() => rm(sdk.folder, { recursive: true, force: true }));

  const read = (name: string) => readFileSync(join(sdk.dist, name), 'utf8');
  const scripts = () => readdirSync(sdk.dist).filter((name) => name.endsWith('.js'));
  const importsOf = (name: string): string[] =>
    [...read(name).matchAll(/\bfrom '\.\/([^']+)'/g)].map((match) => match[1] ?? '');

  it('is loaded by its name, without a dependency and without a module of Node', async () => {
    const manifest = JSON.parse(readFileSync(join(sdk.folder, 'package.json'), 'utf8'));
    assert.equal(manifest.dependencies, undefined);
    assert.notEqual(manifest.private, true);
    for (const name of scripts()) assert.doesNotMatch(read(name), /from '(?!\.)|import\('|require\(/, name);
    const loaded = await import(join(sdk.folder, manifest.exports['.'].default));
    const names = [
      'ApiError',
      'ConnectionError',
      'TillError',
      'WaitTimeoutError',
      'WebhookError',
      'createTill',
      'webhooks',
    ];
    assert.deepEqual(Object.keys(loaded).sort(), names);
  });

  it('uses nothing that Node 18 lacks', async () => {
    for (const name of scripts()) {
      assert.doesNotMatch(
        read(name),
        /AbortSignal\.any|URL\.(parse|canParse)|Response\.json|Promise\.(try|with)/,
        name,
      );
    }
    const { webhooks } = await import(join(sdk.dist, 'till.js'));
    const own = Object.getOwnPropertyDescriptor(globalThis, 'crypto') ?? {};
    Object.defineProperty(globalThis, 'crypto', { value: undefined, configurable: true });
    try {
      await webhooks.verify(BODY, await webhooks.sign({ id: 'evt_1', body: BODY, secret: SECRET }), SECRET);
    } finally {
      Object.defineProperty(globalThis, 'crypto', own);
    }
  });

  it('stays within its size, and a receiver that only verifies carries little of it', () => {
    const weigh = (names: readonly string[]) => gzipSync(names.map(read).join('\n')).length;
    const all = weigh(scripts());
    assert.ok(all <= MOST_BYTES, `${all} bytes compressed`);
    const reach = (name: string): string[] => [name, ...importsOf(name).flatMap(reach)];
    const verifier = weigh([...new Set(reach('webhooks.js'))]);
    assert.ok(verifier <= MOST_BYTES_TO_VERIFY, `${verifier} bytes compressed`);
  });

  it('has types with the documentation of every method', () => {
    const types = read('payments.d.ts');
    assert.match(types, /Creates a payment.*@example.*create\(payment: NewPayment/s);
    assert.match(read('till.d.ts'), /api-types/);
  });
});

function upperCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
}
