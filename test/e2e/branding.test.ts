import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { copyLogos } from '../../src/actions/parties/copy-logo.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { signPath } from '../../src/domain/sign-code.ts';
import { takePicture } from '../../src/pictures/take-picture.ts';
import { createMetrics } from '../../src/runtime/metrics.ts';
import { housekeepingJobs } from '../../src/workers/housekeeping.ts';
import { startTestGateway, type TestGateway } from '../gateway.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { jpeg, jpegSegment, png, pngChunk, pngOfText } from '../pictures.ts';
import { standInPage, stateIn } from './checkout-page.ts';
import { ofMerchant, signIn } from './people-scene.ts';
import { openShop, payer, type Shop } from './shop.ts';

const NOTHING = { logoUrl: null, uploadedLogoUrl: null, copiedLogoUrl: null, accentColor: null, poweredBy: true };

describe('the branding of a merchant', () => {
  let time: ManualTime;
  let gateway: TestGateway;
  let shop: Shop;
  before(async () => {
    time = manualTime();
    gateway = await startTestGateway({ world: { clock: time.clock }, page: standInPage() });
    shop = await openShop(gateway);
  });
  after(() => gateway.stop());

  const urlOf = (on: Shop) => `/v1/merchants/${on.merchant.id}/branding`;
  const read = async (on = shop) => (await gateway.call({ url: urlOf(on), headers: on.headers })).json().branding;
  const change = (payload: object, on = shop) =>
    gateway.call({ method: 'PATCH', url: urlOf(on), headers: on.headers, payload });
  async function changed(payload: object, on = shop) {
    const response = await change(payload, on);
    assert.equal(response.statusCode, 200, response.body);
    return response.json().branding;
  }
  const upload = (bytes: Buffer, on = shop) => changed({ logo: bytes.toString('base64') }, on);
  const fetchPath = (url: string) => gateway.app.inject({ url: new URL(url, 'http://localhost:8080').pathname });

  /** A refund that has failed: its page is there to be seen. */
  async function newRefund({ merchant }: Shop, paymentId: string): Promise<string> {
    const id = refundIdOf(paymentId, 1);
    const account = `0x${'11'.repeat(20)}`;
    await gateway.db.sql`
      insert into refunds (id, payment_id, merchant_id, network, asset, method, recipient, amount, price_value, fee, state,
        from_held, from_merchant, from_operator, account, requested_at, updated_at)
      values (${id}, ${paymentId}, ${merchant.id}, 'eip155:1', 'eip155:1/slip44:60', 'native', ${account}, 1, 1, 0, 'failed',
        1, 0, 0, ${account}, now(), now())`;
    return id;
  }

  it('is that of the gateway until it is changed, field by field', async () => {
    const own = await openShop(gateway);
    assert.deepEqual(await read(own), NOTHING);
    assert.deepEqual(await changed({ accentColor: '#635BFF' }, own), { ...NOTHING, accentColor: '#635bff' });
    assert.deepEqual(await changed({ poweredBy: false }, own), {
      ...NOTHING,
      accentColor: '#635bff',
      poweredBy: false,
    });
    const { logoUrl } = await upload(pngOfText('logo'), own);
    assert.deepEqual(await changed({ accentColor: null, poweredBy: true }, own), {
      ...NOTHING,
      logoUrl,
      uploadedLogoUrl: logoUrl,
    });
    assert.deepEqual(await changed({ logo: null }, own), NOTHING);
    assert.deepEqual(await read(own), NOTHING);
    const rows = await gateway.db.sql`
      select actor, detail from audit_log where subject = ${own.merchant.id} and action = 'merchant.brand_changed'
      order by id`;
    assert.equal(rows.length, 5);
    assert.equal(rows[0]?.actor, `key:${own.key.id}`);
    assert.deepEqual(rows[0]?.detail, { before: { accentColor: null }, after: { accentColor: '#635bff' } });
    assert.deepEqual(rows[2]?.detail, {
      before: { uploadedHash: null },
      after: { uploadedHash: logoUrl.split('/').at(-1) },
    });
  });

  it('shows an uploaded logo instead of the copied one, and the copied one without it', async () => {
    const own = await openShop(gateway);
    const shownIcon = async () => {
      const { paymentId } = await own.created();
      return (await payer(gateway, { 'api-key': own.secret }).info(paymentId)).json().merchant.iconUrl;
    };
    const copied = await takePicture(pngOfText('copied'));
    const { logoUrl } = await upload(pngOfText('uploaded'), own);
    await gateway.call({
      method: 'PATCH',
      url: `/v1/merchants/${own.merchant.id}`,
      headers: own.headers,
      payload: { iconUrl: 'https://shop.example/logo.png' },
    });
    while (await copyLogos({ ...gateway, fetchImage: async () => copied }));
    assert.equal(await shownIcon(), logoUrl, 'a copy that is made later does not replace it');
    const served = await fetchPath(logoUrl);
    assert.equal(served.headers['content-type'], 'image/png');
    assert.deepEqual(served.rawPayload, pngOfText('uploaded'));
    const branding = await changed({ logo: null }, own);
    assert.deepEqual([branding.uploadedLogoUrl, branding.logoUrl], [null, branding.copiedLogoUrl]);
    assert.equal(await shownIcon(), branding.copiedLogoUrl);
    assert.equal((await fetchPath(logoUrl)).statusCode, 404);
    assert.deepEqual((await fetchPath(branding.logoUrl)).rawPayload, pngOfText('copied'));
  });

  it('is shown by pictures that an older version stored as they came only after they are written anew', async () => {
    const { sql } = gateway.db;
    const own = await openShop(gateway);
    const raw = {
      uploaded: jpeg(jpegSegment(0xe1, Buffer.from('Exif\0\0GPS'))),
      copied: png({ width: 30_000, height: 30_000, rows: Buffer.alloc(8) }),
      link: Buffer.from('\0\0\0\x14ftypavif\0\0\0\0mif1', 'latin1'),
      sound: pngOfText('sound'),
    };
    const newLink = async () => {
      const payload = { description: 'Tea', amount: { unit: 'iso4217/USD', value: '500' } };
      const url = '/v1/payment-links';
      return (await gateway.call({ method: 'POST', url, headers: own.headers, payload })).json().paymentLink.id;
    };
    const [link, sound] = [await newLink(), await newLink()];
    await changed({ accentColor: '#635bff' }, own);
    await sql`update merchant_brands set logo_hash = 'u', logo_type = 'image/jpeg', logo_bytes = ${raw.uploaded}
      where merchant_id = ${own.merchant.id}`;
    await sql`insert into merchant_logos (merchant_id, source_url, wished_at, hash, type, bytes, copied_at)
      values (${own.merchant.id}, 'https://shop.example/a', now(), 'c', 'image/png', ${raw.copied}, now())`;
    await sql`update payment_links set picture_hash = 'l', picture_type = 'image/avif', picture_bytes = ${raw.link}
      where id = ${link}`;
    const { hash } = await takePicture(raw.sound);
    await sql`update payment_links set picture_hash = ${hash}, picture_type = 'image/png', picture_bytes = ${raw.sound}
      where id = ${sound}`;

    const job = housekeepingJobs({ ...gateway, metrics: createMetrics() }).find(
      ({ name }) => name === 'renew-pictures',
    );
    while (await job?.run());
    const branding = await read(own);
    assert.equal(branding.copiedLogoUrl, null);
    assert.deepEqual((await fetchPath(branding.uploadedLogoUrl)).rawPayload, jpeg());
    const linked = async (id: string) =>
      (await gateway.call({ url: `/v1/payment-links/${id}`, headers: own.headers })).json().paymentLink.pictureUrl;
    assert.equal(await linked(link), null);
    assert.deepEqual((await fetchPath(await linked(sound))).rawPayload, raw.sound);
    const [logo] = await sql`select problem from merchant_logos where merchant_id = ${own.merchant.id}`;
    assert.equal(logo?.problem, 'it must have at most 4 million pixels');
    const entries = await sql`select subject from audit_log where action = 'picture.renewed' order by id`;
    const { id } = own.merchant;
    assert.deepEqual(
      entries.map(({ subject }) => subject),
      [id, id, link],
    );
    const events = await sql`select from events where object_id = ${link} and type = 'payment_link.updated'`;
    assert.equal(events.length, 1);

    // Once more a day later, because nodes of the older version may have stored pictures until they were replaced. Then never again.
    const newJob = (days: number) => {
      const clock = { ...gateway.world.clock, nowMs: () => gateway.world.clock.nowMs() + days * 86_400_000 };
      const later = { ...gateway, world: { ...gateway.world, clock }, metrics: createMetrics() };
      return housekeepingJobs(later).find(({ name }) => name === 'renew-pictures');
    };
    const storeRaw = () => sql`
      update payment_links set picture_hash = 'l', picture_type = 'image/avif', picture_bytes = ${raw.link} where id = ${link}`;
    await storeRaw();
    for (const early of [job, newJob(0), newJob(0.99)]) assert.equal(await early?.run(), false);
    assert.notEqual(await linked(link), null);
    const second = newJob(1.01);
    while (await second?.run());
    assert.equal(await linked(link), null);
    await storeRaw();
    for (const over of [second, newJob(1.01), newJob(40)]) assert.equal(await over?.run(), false);
    assert.notEqual(await linked(link), null);
  });

  it('is on the pages of the merchant, and on no page of another', async () => {
    const own = await openShop(gateway);
    const { logoUrl } = await upload(pngOfText('on pages'), own);
    const { paymentId } = await own.created();
    const { url } = (
      await gateway.call({
        method: 'POST',
        url: '/v1/payment-links',
        headers: own.headers,
        payload: { description: 'Tea', amount: { unit: 'iso4217/USD', value: '500' } },
      })
    ).json().paymentLink;
    const refundId = await newRefund(own, paymentId);
    const pages = [`/${paymentId}`, new URL(url).pathname, signPath(gateway.signingKeys, refundId)];
    const sheet = '<link rel="stylesheet" href="/brand/635bff.css">';
    for (const page of pages) {
      const { body } = await gateway.app.inject({ url: page });
      assert.ok(!body.includes('/brand/') && !body.includes('"hidesPoweredBy":true'), page);
      assert.ok(!body.includes('"poweredBy":""'), page);
    }
    await changed({ accentColor: '#635bff', poweredBy: false }, own);
    for (const page of pages) {
      const { body, headers } = await gateway.app.inject({ url: page });
      assert.ok(body.includes(sheet), page);
      assert.ok(body.indexOf(sheet) > body.indexOf('/assets/page-1.css'), 'after the sheets of the page');
      assert.ok(body.includes('"hidesPoweredBy":true') || stateIn(body).strings.poweredBy === '', page);
      assert.ok(body.includes(logoUrl), page);
      assert.doesNotMatch(body, /<style|style=/, page);
      assert.match(String(headers['content-security-policy']), /style-src 'self';/);
    }
    const { paymentId: other } = await shop.created();
    assert.ok(!(await gateway.app.inject({ url: `/${other}` })).body.includes('/brand/'));
    const nobody = await gateway.app.inject({ url: '/pay_00000000000000000000000000' });
    assert.ok(!nobody.body.includes('/brand/'));
  });

  it('has a stylesheet for every accent that is accepted, and for nothing else', async () => {
    const response = await gateway.app.inject({ url: '/brand/635bff.css' });
    assert.equal(response.headers['content-type'], 'text/css; charset=utf-8');
    assert.equal(response.body, ':root{--main:#635bff;--main-hover:#5b54eb;--on-main:#ffffff}\n');
    assert.equal(response.headers['x-content-type-options'], 'nosniff');
    assert.equal(response.headers['cache-control'], 'public, max-age=86400');
    for (const name of [
      ...['ffffff.css', '000000.css', '635BFF.css', '635bff', 'fff.css', '635bff.css.css', '..%2f635bff.css'],
      ...['635bff%7D*%7Bdisplay:none%7D.css', '%3Cscript%3E.css', '635bff.js', '%00.css'],
    ]) {
      assert.equal((await gateway.app.inject({ url: `/brand/${name}` })).statusCode, 404, name);
    }
  });

  it('refuses colours with too little contrast, and names the ratio and what is needed', async () => {
    for (const [accentColor, problem] of [
      [
        '#ffee00',
        /against #f4f3ef of the light theme it has 1\.0\d:1; the nearest colour with enough is #[0-9a-f]{6}$/,
      ],
      ['#000000', /at least 3:1 .* against #0d0f13 of the dark theme it has 1\.09:1/],
    ] as const) {
      const refused = await change({ accentColor });
      assert.equal(refused.statusCode, 400);
      const { code, issues } = refused.json();
      assert.deepEqual([code, issues[0].field], ['params_validation', 'accentColor']);
      assert.match(issues[0].message, problem);
      const nearest = issues[0].message.slice(-7);
      assert.equal((await changed({ accentColor: nearest })).accentColor, nearest);
    }
    await changed({ accentColor: null });
  });

  it('refuses everything that is no colour', async () => {
    for (const accentColor of [
      ...[
        '',
        'red',
        '#fff',
        '#635bff;}body{display:none',
        '</style><script>alert(1)</script>',
        '#63５bff',
        '#635bff\n',
      ],
      ...['url(//evil.example)', 'var(--ink)', '#635bff\u0000', 'x'.repeat(10_000), 42, true, {}, ['#635bff']],
    ]) {
      const refused = await change({ accentColor });
      assert.deepEqual([refused.statusCode, refused.json().code], [400, 'params_validation'], String(accentColor));
      assert.deepEqual(refused.json().issues[0].field, 'accentColor');
    }
    assert.equal((await read()).accentColor, null);
  });

  it('refuses logos that are no pictures, too large, or unreadable', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
    for (const bytes of [
      ...[svg, `<?xml version="1.0"?>${svg}`, '<!doctype html><script>alert(1)</script>', 'GIF89a', '%PDF-1.7', 'MZ'],
      ...['PK\u0003\u0004', ' \u0089PNG', 'RIFF1234WAVE', '\u0000\u0000\u0000\u0020ftypheic'],
    ]) {
      const refused = await change({ logo: Buffer.from(bytes, 'latin1').toString('base64') });
      assert.equal(refused.statusCode, 400, bytes);
      assert.deepEqual(refused.json().issues, [{ field: 'logo', message: 'must be a JPEG, PNG or WebP' }], bytes);
    }
    for (const logo of ['', 'not base64!', `data:image/png;base64,${pngOfText('x').toString('base64')}`, 7, {}, []]) {
      const refused = await change({ logo });
      assert.deepEqual([refused.statusCode, refused.json().issues[0].field], [400, 'logo'], String(logo));
    }
    const limit = 2 * 1024 * 1024;
    const large = await change({ logo: Buffer.alloc(limit + 1).toString('base64') });
    assert.deepEqual(large.json().issues, [{ field: 'logo', message: 'must have at most 2 MB' }]);
    const huge = await change({ logo: Buffer.alloc(10 * 1024 * 1024).toString('base64') });
    assert.deepEqual([huge.statusCode, huge.json().code], [413, 'invalid_params']);
    assert.deepEqual(await read(), NOTHING);
    const whole = pngOfText('whole');
    const padded = Buffer.concat([whole, Buffer.alloc(limit - whole.length)]);
    assert.deepEqual((await fetchPath((await upload(padded)).logoUrl)).rawPayload, whole);
    await changed({ logo: null });
  });

  it('refuses a logo that would unpack to gigabytes, by its header', async () => {
    const bomb = png({ width: 30_000, height: 30_000, rows: Buffer.alloc(1_000_000) });
    assert.ok(bomb.length < 2_000);
    const refused = await change({ logo: bomb.toString('base64') });
    assert.deepEqual(refused.json().issues, [{ field: 'logo', message: 'must have at most 4 million pixels' }]);
    assert.deepEqual(await read(), NOTHING);
  });

  it('serves a picture that is also a page or a script as a picture alone', async () => {
    const script = '<script>alert(1)</script>/*\n*/alert(1)//';
    const extra = [pngChunk('eXIf', Buffer.from('GPSLatitude')), pngChunk('tEXt', Buffer.from(script))];
    const file = png({ width: 1, height: 1, colour: 0, rows: Buffer.from([0, 7]), extra });
    const { logoUrl } = await upload(Buffer.concat([file, Buffer.from(script)]));
    const { headers, rawPayload } = await fetchPath(logoUrl);
    assert.deepEqual(rawPayload, png({ width: 1, height: 1, colour: 0, rows: Buffer.from([0, 7]) }));
    assert.equal(headers['content-type'], 'image/png');
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['content-security-policy'], "default-src 'none'; frame-ancestors 'none'");
    await changed({ logo: null });
  });

  it('refuses unknown fields, and a change of nothing', async () => {
    for (const [payload, field] of [
      [{}, 'body'],
      [{ ifUnchanged: {} }, 'body'],
      [{ poweredBy: true, acentColor: '#635bff' }, 'acentColor'],
      [{ poweredBy: true, ifUnchanged: { logo: null } }, 'ifUnchanged.logo'],
    ] as const) {
      const refused = await change(payload);
      assert.deepEqual([refused.statusCode, refused.json().code], [400, 'params_validation']);
      assert.equal(refused.json().issues[0].field, field);
    }
  });

  it('lets the later of two people know what the earlier one has changed', async () => {
    const own = await openShop(gateway);
    const { uploadedLogoUrl, accentColor, poweredBy } = await read(own);
    const seen = { uploadedLogoUrl, accentColor, poweredBy };
    await upload(pngOfText('of the first'), own);
    const refused = await change({ accentColor: '#635bff', ifUnchanged: seen }, own);
    assert.deepEqual([refused.statusCode, refused.json().code], [409, 'invalid_state']);
    const { current } = refused.json().details;
    assert.deepEqual(current, await read(own));
    assert.equal(current.accentColor, null, 'nothing was changed');
    const again = { uploadedLogoUrl: current.uploadedLogoUrl, accentColor: null, poweredBy: true };
    await changed({ accentColor: '#635bff', ifUnchanged: again }, own);
    const both = await Promise.all(
      ['#e11d48', '#0f7b6c'].map((accent) =>
        change({ accentColor: accent, ifUnchanged: { accentColor: '#635bff' } }, own),
      ),
    );
    assert.deepEqual(both.map(({ statusCode }) => statusCode).sort(), [200, 409], 'one of two at the same moment');
  });

  it('is read by cashiers and changed by owners alone', async () => {
    const belonging = ofMerchant(shop.partner.id, shop.merchant.id);
    for (const [role, expected] of [
      ['owner', 200],
      ['developer', 403],
      ['cashier', 403],
    ] as const) {
      const { headers } = await signIn(gateway, { belonging, role });
      const read = await gateway.call({ url: urlOf(shop), headers });
      assert.equal(read.statusCode, 200, role);
      const payload = { poweredBy: true };
      const written = await gateway.call({ method: 'PATCH', url: urlOf(shop), headers, payload });
      assert.equal(written.statusCode, expected, role);
    }
    const other = await openShop(gateway);
    const refused = await gateway.call({ url: urlOf(shop), headers: other.headers });
    assert.equal(refused.json().code, 'merchant_not_found');
  });
});
