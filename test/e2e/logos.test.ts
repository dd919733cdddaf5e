import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { copyLogos } from '../../src/actions/parties/copy-logo.ts';
import type { Picture } from '../../src/domain/picture.ts';
import { ImageError } from '../../src/logos/fetch-image.ts';
import { takePicture } from '../../src/pictures/take-picture.ts';
import { createTestMerchant, startTestGateway, type TestGateway } from '../gateway.ts';
import { type ManualTime, manualTime } from '../manual-time.ts';
import { pngOfText } from '../pictures.ts';
import { openShop, payer, type Shop } from './shop.ts';

const image = (text: string) => takePicture(pngOfText(text));
const URL_A = 'https://shop.example/a.png';
const URL_B = 'https://shop.example/b.png';

describe('logos of merchants', () => {
  let time: ManualTime;
  let gateway: TestGateway;
  let shop: Shop;
  let found: (url: string) => Picture | Promise<Picture>;
  let fetched: string[];
  before(async () => {
    time = manualTime();
    gateway = await startTestGateway({ world: { clock: time.clock } });
    shop = await openShop(gateway);
  });
  after(() => gateway.stop());
  beforeEach(async () => {
    found = (url) => image(url);
    fetched = [];
    await setIcon(shop.merchant.id, null);
  });

  const copy = () =>
    copyLogos({
      ...gateway,
      fetchImage: async (url) => {
        fetched.push(url);
        return found(url);
      },
    });

  async function setIcon(merchantId: string, iconUrl: string | null) {
    await time.advance(1);
    const response = await gateway.call({
      method: 'PATCH',
      url: `/v1/merchants/${merchantId}`,
      headers: shop.headers,
      payload: { iconUrl },
    });
    assert.equal(response.statusCode, 200);
    assert.equal(response.json().merchant.iconUrl, iconUrl);
  }

  /** The logo that payers see. */
  async function shownIcon(on: Shop = shop): Promise<string | null> {
    const { paymentId } = await on.created();
    gateway.merchants.forget(on.merchant.id);
    return (await payer(gateway, { 'api-key': on.secret }).info(paymentId)).json().merchant.iconUrl;
  }

  it('are copied for all partners in turn: a partner with many delays no other', async () => {
    const merchants = await Promise.all(
      Array.from({ length: 8 }, () => createTestMerchant(gateway, { 'api-key': shop.secret })),
    );
    for (const { id } of merchants) await setIcon(id, `https://flood.example/${id}.png`);
    const other = await openShop(gateway);
    await time.advance(1);
    await gateway.call({
      method: 'PATCH',
      url: `/v1/merchants/${other.merchant.id}`,
      headers: other.headers,
      payload: { iconUrl: 'https://other.example/logo.png' },
    });
    assert.equal(await copy(), true);
    assert.ok(fetched.includes('https://other.example/logo.png'), 'the other partner is in the first batch');
    while (await copy());
    assert.equal(new Set(fetched).size, merchants.length + 1);
  });

  it('are copied once, and payers are shown the copy on our own origin', async () => {
    await setIcon(shop.merchant.id, URL_A);
    assert.equal(await shownIcon(), null, 'nothing until there is a copy');
    assert.equal(await copy(), false);
    await copy();
    assert.deepEqual(fetched, [URL_A]);
    const shown = await shownIcon();
    assert.match(shown ?? '', /^http:\/\/localhost:8080\/logos\/[0-9a-f]{32}$/);
    const response = await gateway.app.inject({ url: new URL(shown ?? '').pathname });
    assert.equal(response.statusCode, 200);
    assert.deepEqual(response.rawPayload, pngOfText(URL_A));
    assert.equal(response.headers['content-type'], 'image/png');
    assert.equal(response.headers['x-content-type-options'], 'nosniff');
    assert.equal(response.headers['cache-control'], 'public, max-age=31536000, immutable');
    const etag = String(response.headers.etag);
    const again = await gateway.app.inject({
      url: new URL(shown ?? '').pathname,
      headers: { 'if-none-match': etag },
    });
    assert.equal(again.statusCode, 304);
  });

  it('are copied for a merchant that is created with one', async () => {
    await createTestMerchant(gateway, shop.headers, { iconUrl: URL_B });
    await copy();
    assert.deepEqual(fetched, [URL_B]);
  });

  it('are read again when the merchant names the URL again, and shown meanwhile', async () => {
    await setIcon(shop.merchant.id, URL_A);
    await copy();
    const first = await shownIcon();
    found = () => image('another picture');
    await setIcon(shop.merchant.id, URL_A);
    assert.equal(await shownIcon(), first);
    await copy();
    assert.notEqual(await shownIcon(), first);
    assert.equal(fetched.length, 2);
  });

  it('are not shown any more when the merchant has another one, or none', async () => {
    await setIcon(shop.merchant.id, URL_A);
    await copy();
    const { pathname } = new URL((await shownIcon()) ?? '');
    await setIcon(shop.merchant.id, URL_B);
    assert.equal(await shownIcon(), null);
    await setIcon(shop.merchant.id, null);
    assert.equal(await shownIcon(), null);
    assert.equal((await gateway.app.inject({ url: pathname })).statusCode, 404);
  });

  it('are given up when they are no images, which only the log records', async () => {
    found = () => {
      throw new ImageError('it must be a JPEG, PNG or WebP');
    };
    await setIcon(shop.merchant.id, URL_A);
    await copy();
    await time.advance(3_600_000);
    await copy();
    assert.equal(fetched.length, 1);
    assert.equal(await shownIcon(), null);
  });

  it('are tried three times when their server is away', async () => {
    found = () => {
      throw new ImageError('its server could not be reached', { isPassing: true });
    };
    await setIcon(shop.merchant.id, URL_A);
    const tries: number[] = [];
    for (const waitMs of [0, 59_000, 1_000, 899_000, 1_000, 3_600_000]) {
      await time.advance(waitMs);
      await copy();
      tries.push(fetched.length);
    }
    assert.deepEqual(tries, [1, 1, 2, 2, 3, 3]);
  });

  it('are not copied twice by two nodes, and again when a node died over it', async () => {
    await setIcon(shop.merchant.id, URL_A);
    found = () => Promise.reject(new Error('the node was killed'));
    await assert.rejects(copy(), /killed/);
    found = (url) => image(url);
    await copy();
    assert.equal(fetched.length, 1, 'somebody may still be at it');
    await time.advance(60_000);
    await Promise.all([copy(), copy()]);
    assert.equal(fetched.length, 2);
    assert.notEqual(await shownIcon(), null);
  });

  it('are the latest wish, though an earlier copy was slower', async () => {
    await setIcon(shop.merchant.id, URL_A);
    let finish = (_image: Picture) => {};
    let begun = () => {};
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    found = () =>
      new Promise((resolve) => {
        finish = resolve;
        begun();
      });
    const slow = copy();
    await isBegun;
    await setIcon(shop.merchant.id, URL_B);
    found = (url) => image(url);
    await copy();
    const shown = await shownIcon();
    finish(await image(URL_A));
    await slow;
    assert.equal(await shownIcon(), shown);
    const { rawPayload } = await gateway.app.inject({ url: new URL(shown ?? '').pathname });
    assert.deepEqual(rawPayload, pngOfText(URL_B));
  });

  it('are not found by names that are none', async () => {
    for (const name of ['x', '..%2f', 'f'.repeat(32), "' or 1=1", 'F'.repeat(32)]) {
      assert.equal((await gateway.app.inject({ url: `/logos/${encodeURIComponent(name)}` })).statusCode, 404, name);
    }
  });
});
