import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { changePartner } from '../../src/actions/parties/change-partner.ts';
import { CHECKOUT_APPS, openCheckout } from '../../src/actions/parties/open-checkout.ts';
import { unregisterApp } from '../../src/actions/parties/register-app.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { paymentIn, standInPage, stateIn } from './checkout-page.ts';
import { happen, openShop, type Shop, TX_HASH } from './shop.ts';

const HOSTILE = [
  '</script><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  '<!-- <script>',
  '{merchant} $& $1 {{alert(1)}}',
  '\u202e\u2028\u2029\u200f',
  '😀'.repeat(128),
];

describe('the checkout document', () => {
  let time: ManualTime;
  let gateway: TestGateway;
  let shop: Shop;
  before(async () => {
    time = manualTime();
    gateway = await startTestGateway({ world: { clock: time.clock }, page: standInPage() });
    shop = await openShop(gateway);
  });
  after(() => gateway.stop());

  const open = (url: string, headers: Record<string, string> = {}) => gateway.app.inject({ url, headers });

  it('carries the payment, by every form of its address', async () => {
    const checkout = { successUrl: 'https://shop.example/ok?a=1', errorUrl: 'https://shop.example/no' };
    const { paymentId, gatewayUrl, expiresAt } = await shop.created({ checkout, referenceId: 'ORDER-7' });
    const plain = `/c/${paymentId.slice(4)}`;
    for (const url of [`/?pid=${paymentId}`, `/${paymentId}`, plain, `${plain}?lang=en`, gatewayUrl.slice(21)]) {
      const response = await open(url);
      assert.equal(response.statusCode, 200);
      assert.equal(response.headers['content-type'], 'text/html; charset=utf-8');
      assert.equal(response.headers['cache-control'], 'no-store');
      const { payment, ...state } = paymentIn(response.body);
      assert.equal(state.paymentId, paymentId);
      assert.equal(state.gatewayUrl, gatewayUrl);
      assert.equal(state.qrUrl, `http://localhost:8080${plain}`);
      assert.equal(state.appId, CHECKOUT_APPS.test);
      assert.equal(state.nowMs, time.clock.nowMs());
      assert.equal(state.referenceId, 'ORDER-7');
      assert.deepEqual(state.checkout, checkout);
      assert.equal(state.sandbox, null);
      assert.equal(state.embedder, false);
      assert.equal(payment.status, 'requires_action');
      assert.equal(payment.isFinal, false);
      assert.equal(payment.expiresAt, expiresAt);
      assert.equal(payment.amount.value, '1000');
      assert.deepEqual(payment.merchant, { name: 'Test shop', iconUrl: null });
      assert.match(response.body, /<title>Pay Test shop<\/title>/);
      assert.match(response.body, /<main>payment<\/main>/);
    }
  });

  it('leaves the gateway URL to be its QR code where the operator wants that', async () => {
    const config = { qrLink: 'gateway' } as const;
    const other = await startTestGateway({ config, page: standInPage(), databaseUrl: gateway.databaseUrl });
    try {
      const { paymentId } = await shop.created();
      const response = await other.app.inject({ url: `/c/${paymentId.slice(4)}` });
      assert.equal(paymentIn(response.body).qrUrl, undefined);
    } finally {
      await other.stop();
    }
  });

  it('shows the outcome of a payment with a link to the transaction, and stops polling', async () => {
    const { paymentId } = await shop.created();
    assert.match((await open(`/${paymentId}`)).body, /<noscript><meta http-equiv="refresh" content="5"><\/noscript>/);
    await happen(gateway, paymentId, 'confirmed', 'succeeded');
    const { body } = await open(`/${paymentId}`);
    assert.doesNotMatch(body, /http-equiv="refresh"/);
    const { payment } = paymentIn(body);
    assert.equal(payment.status, 'succeeded');
    assert.equal(payment.info?.txId, TX_HASH);
    assert.equal(payment.info?.explorerUrl, `/tx/eip155:8453/${TX_HASH}`);
    assert.match(payment.info?.optionAmount.display.iconUrl ?? '', /\/icons\/token\/USDC\.svg$/);
    assert.match(payment.info?.optionAmount.display.networkIconUrl ?? '', /\/icons\/network\/eip155-8453\.svg$/);
  });

  it('says why a payment failed, and when it expired', async () => {
    const declined = await shop.created();
    await happen(gateway, declined.paymentId, 'confirmed', 'declined');
    const { payment } = paymentIn((await open(`/${declined.paymentId}`)).body);
    assert.deepEqual([payment.status, payment.failureCode], ['failed', 'declined_user']);
    const late = await shop.created({ expiresAt: Math.floor(time.clock.nowMs() / 1000) + 60 });
    await time.advance(61_000);
    assert.equal(paymentIn((await open(`/${late.paymentId}`)).body).payment.status, 'expired');
  });

  it('answers a payment that is not there with a friendly page and 404', async () => {
    const paths = [
      '/?pid=',
      '/?pid=pay_01H0000000000000000000000A',
      '/pay_01H0000000000000000000000A',
      '/pay_',
      '/pay_x/y/z',
      '/c/',
      '/c/01H0000000000000000000000A',
      '/c/pay_01H0000000000000000000000A',
      `/c/${'x'.repeat(9_000)}`,
      '/c/%00',
      `/pay_${'x'.repeat(9_000)}`,
      `/?pid=${'x'.repeat(9_000)}`,
      '/?pid=a&pid=b',
      `/?pid=${encodeURIComponent('<script>alert(1)</script>')}`,
      '/?pid=%00',
      '/?pid=%E0%A4%A',
      `/?pid=${encodeURIComponent('https://elsewhere.example/?pid=pay_01H0000000000000000000000A')}`,
    ];
    for (const path of paths) {
      const response = await open(path);
      assert.equal(response.statusCode, 404, path.slice(0, 80));
      assert.equal(stateIn(response.body).kind, 'not_found');
      assert.match(response.body, /<title>Payment not found<\/title>/);
      assert.doesNotMatch(response.body, /alert/);
      assert.equal(response.headers['x-frame-options'], 'DENY');
    }
  });

  it('understands an address that was encoded once more', async () => {
    const { paymentId, gatewayUrl } = await shop.created();
    for (const path of [`/?pid=${encodeURIComponent(gatewayUrl)}`, `/?pid=%70${paymentId.slice(1)}`]) {
      assert.equal(paymentIn((await open(path)).body).paymentId, paymentId, path);
    }
  });

  it('escapes the merchant’s text', async () => {
    for (const name of HOSTILE) {
      await gateway.call({
        method: 'PATCH',
        url: `/v1/merchants/${shop.merchant.id}`,
        headers: shop.headers,
        payload: { merchantName: name },
      });
      gateway.merchants.forget(shop.merchant.id);
      const { paymentId } = await shop.created();
      const { body } = await open(`/${paymentId}`);
      assert.equal(paymentIn(body).payment.merchant.name, name);
      assert.equal(body.split('<script').length, 3, 'the page has its two scripts and no other');
      assert.equal(body.split('</script').length, 3);
      assert.doesNotMatch(body, /<img|<svg/);
    }
  });

  it('lets nothing run but its own files, and nothing out', async () => {
    const { paymentId } = await shop.created();
    const { headers, body } = await open(`/${paymentId}`);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    assert.match(policy, /connect-src 'self'/);
    assert.match(policy, /base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:\/\/(?!localhost)/);
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.doesNotMatch(body, /<style|style=|javascript:|onload=/);
    assert.deepEqual([...body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, path]) => path).sort(), [
      '/assets/inter-latin-wght-normal-4.woff2',
      '/assets/page-1.css',
      '/assets/page-2.js',
      '/assets/shared-3.js',
      '/icons/till.svg',
    ]);
  });

  it('can be framed by the origins its partner has listed, and by no other', async () => {
    const other = await openShop(gateway);
    const frameOrigins = ['https://shop.example', 'https://b.example:8443'];
    await changePartner(gateway, { actor: 'test', partnerId: other.partner.id, changes: { frameOrigins } });
    const framed = await open(`/${(await other.created()).paymentId}`);
    assert.match(
      String(framed.headers['content-security-policy']),
      /frame-ancestors https:\/\/shop\.example https:\/\/b\.example:8443$/,
    );
    assert.equal(framed.headers['x-frame-options'], undefined);
    assert.equal(paymentIn(framed.body).embedder, true);
    const own = await open(`/${(await shop.created()).paymentId}`);
    assert.equal(own.headers['x-frame-options'], 'DENY');
  });

  it('speaks the language asked for, else that of the browser', async () => {
    const { paymentId } = await shop.created();
    assert.match((await open(`/${paymentId}`, { 'accept-language': 'ar-EG' })).body, /<html lang="ar" dir="rtl">/);
    assert.match((await open(`/${paymentId}?lang=ar`)).body, /<html lang="ar" dir="rtl">/);
    assert.match((await open(`/${paymentId}?lang=x&lang=y`)).body, /<html lang="en" dir="ltr">/);
  });

  it('is compressed for clients that accept it', async () => {
    const { paymentId } = await shop.created();
    const plain = (await open(`/${paymentId}`)).body;
    for (const [accepted, encoding, read] of [
      ['gzip, deflate, br', 'br', brotliDecompressSync],
      ['gzip;q=1.0, br;q=0', 'gzip', gunzipSync],
    ] as const) {
      const response = await open(`/${paymentId}`, { 'accept-encoding': accepted });
      assert.equal(response.headers['content-encoding'], encoding);
      assert.equal(read(response.rawPayload).toString(), plain);
    }
  });

  it('asks its payer to wait while the gateway has a fault', async () => {
    const own = await startTestGateway({ page: standInPage() });
    const { paymentId } = await (await openShop(own)).created();
    await own.db.close();
    const response = await own.app.inject({ url: `/${paymentId}` });
    assert.equal(response.statusCode, 503);
    assert.equal(response.headers['retry-after'], '1');
    assert.equal(stateIn(response.body).kind, 'unavailable');
    assert.match(response.body, /http-equiv="refresh"/);
    await own.stop();
  });

  it('limits how often one address may ask for it', async () => {
    const own = await startTestGateway({ page: standInPage(), config: { addressRequestsPerSecond: 3 } });
    // The budget refills with time, so on a busy machine one more of many requests may be answered.
    const asked = Array.from({ length: 20 }, () => own.app.inject('/?pid='));
    const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode);
    assert.deepEqual(statuses.slice(0, 3), [404, 404, 404]);
    assert.ok(statuses.filter((status) => status === 429).length >= 10, statuses.join(' '));
    await own.stop();
  });

  it('reports a missing build, and the API works on', async () => {
    const own = await startTestGateway();
    const { paymentId } = await (await openShop(own)).created();
    const response = await own.app.inject({ url: `/${paymentId}` });
    assert.equal(response.statusCode, 503);
    assert.match(response.body, /npm run build/);
    await own.stop();
  });
});

describe('the App-Id of the page', () => {
  it('is an App-Id of its mode, made once and put back when it was removed', async () => {
    const gateway = await startTestGateway();
    const { paymentId } = await (await openShop(gateway)).created();
    const ask = async () => {
      const headers = { 'app-id': CHECKOUT_APPS.test, 'client-id': 'visit' };
      return (await gateway.call({ url: `/v1/gateway/payment/${paymentId}`, headers })).statusCode;
    };
    assert.equal(await ask(), 200);
    await openCheckout(gateway);
    assert.equal(await ask(), 200);
    await unregisterApp(gateway, { actor: 'test', appId: CHECKOUT_APPS.test });
    gateway.apps.forget(CHECKOUT_APPS.test);
    assert.equal(await ask(), 401);
    await openCheckout(gateway);
    assert.equal(await ask(), 200);
    await gateway.stop();
  });

  it('is the live one for live payments', async () => {
    const gateway = await startTestGateway({ page: standInPage() });
    const shop = await openShop(gateway, { mode: 'live' });
    const { paymentId } = await shop.created();
    assert.equal(paymentIn((await gateway.app.inject({ url: `/${paymentId}` })).body).appId, CHECKOUT_APPS.live);
    await gateway.stop();
  });
});

describe('the files of the page', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({ page: standInPage() });
  });
  after(() => gateway.stop());
  const open = (url: string, headers: Record<string, string> = {}) => gateway.app.inject({ url, headers });

  it('are kept for ever, compressed, and not sent twice', async () => {
    const first = await open('/assets/page-2.js', { 'accept-encoding': 'br' });
    assert.equal(first.statusCode, 200);
    assert.equal(first.headers['content-type'], 'text/javascript; charset=utf-8');
    assert.equal(first.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(first.headers['content-encoding'], 'br');
    assert.equal(first.headers.vary, 'Accept-Encoding');
    assert.ok(first.rawPayload.length < 200);
    const again = await open('/assets/page-2.js', {
      'accept-encoding': 'br',
      'if-none-match': String(first.headers.etag),
    });
    assert.equal(again.statusCode, 304);
    assert.equal(again.body, '');
    assert.equal((await open('/assets/page-2.js', { 'if-none-match': String(first.headers.etag) })).statusCode, 200);
  });

  it('are icons that wallets of any origin may show', async () => {
    const icon = await open('/icons/token/USDC.svg');
    assert.equal(icon.statusCode, 200);
    assert.equal(icon.headers['cross-origin-resource-policy'], 'cross-origin');
    assert.match(icon.body, /^<svg .*<title>USDC<\/title>/);
    assert.match(String(icon.headers['content-security-policy']), /^default-src 'none'.*; sandbox$/);
    assert.equal(icon.headers['x-content-type-options'], 'nosniff');
    assert.equal((await open('/icons/network/eip155-8453.svg')).statusCode, 200);
    assert.equal((await open('/icons/till.svg')).statusCode, 200, 'our own mark is a file of the pages');
  });

  it('are only those that were built', async () => {
    for (const url of [
      '/assets/none.js',
      '/assets/',
      '/assets/../package.json',
      '/assets/%2e%2e/package.json',
      '/icons/x',
    ]) {
      assert.equal((await open(url)).statusCode, 404, url);
    }
  });
});

describe('the way to a transaction', () => {
  it("leads to the network's explorer, and nowhere else", async () => {
    const gateway = await startTestGateway({ page: standInPage() });
    const found = await gateway.app.inject({ url: `/tx/eip155:8453/${TX_HASH}` });
    assert.equal(found.statusCode, 302);
    assert.equal(found.headers.location, `https://basescan.org/tx/${TX_HASH}`);
    for (const path of [
      `/tx/eip155:99999/${TX_HASH}`,
      '/tx/eip155:8453/0x12',
      `/tx/eip155:31337/${TX_HASH}`,
      '/tx/a/b',
    ]) {
      assert.equal((await gateway.app.inject({ url: path })).statusCode, 404, path);
    }
    await gateway.stop();
  });
});
