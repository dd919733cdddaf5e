import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { ONLY_LONG } from '../long.ts';
import { assertAccessible } from './accessible.ts';
import { missingBrowser } from './chromium.ts';
import { type Scene, sharedScene } from './scene.ts';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

describe('a person with a browser', { skip: missingBrowser(), concurrency: 2 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await sharedScene();
  });

  it('finds a description at the root, with links to the shop, the reference and the state of the node', async () => {
    const { page, problems, close } = await scene.visit();
    await page.goto(scene.baseUrl);
    await page.getByRole('heading', { name: 'A payment gateway' }).waitFor();
    await assertAccessible(page, 'front page');
    const hrefs = await page
      .getByRole('listitem')
      .getByRole('link')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    // A folder whose guides were built has a link to them.
    const others = hrefs.filter((href) => href !== '/guides/');
    assert.deepEqual(others, ['/demo', '/sandbox/blocks', '/docs', '/openapi.json', '/ready', '/health']);
    for (const href of hrefs) {
      const response = await page.goto(scene.baseUrl + href);
      assert.equal(response?.status(), 200, href ?? '');
    }
    assert.deepEqual(problems, []);
    await close();
  });

  it('gets a page for an address that is not there, and the right one for a slash too many', ONLY_LONG, async () => {
    const { page, close } = await scene.visit();
    const lost = await page.goto(`${scene.baseUrl}/nowhere/at/all`);
    assert.equal(lost?.status(), 404);
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    await assertAccessible(page, 'no such page');
    await page.getByRole('link', { name: 'Front page' }).click();
    await page.getByRole('heading', { name: 'A payment gateway' }).waitFor();
    for (const path of ['/docs/', '/demo/', '/sandbox/blocks/']) {
      assert.equal((await page.goto(scene.baseUrl + path))?.status(), 200, path);
      assert.equal(page.url(), scene.baseUrl + path.slice(0, -1));
    }
    await close();
  });

  it('reads every page in the typeface and the colours of the checkout, on a phone too', ONLY_LONG, async () => {
    const { page, problems, close } = await scene.visit(PHONE);
    const styleOf = () =>
      page.evaluate(`(() => {
        const { fontFamily } = getComputedStyle(document.body);
        const root = getComputedStyle(document.documentElement);
        return [fontFamily.split(',')[0], ...['--ink', '--paper', '--card', '--main'].map((name) => root.getPropertyValue(name))];
      })()`);
    const { gatewayUrl } = await scene.createPayment('iso4217/USD', '1000');
    await page.goto(gatewayUrl);
    const checkout = await styleOf();
    for (const path of ['/', '/demo', '/sandbox/blocks', '/sandbox/blocks/0', '/docs']) {
      await page.goto(scene.baseUrl + path);
      assert.deepEqual(await styleOf(), checkout, path);
      assert.equal(
        await page.evaluate("document.fonts.ready.then(() => document.fonts.check('16px Inter'))"),
        true,
        path,
      );
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, path);
    }
    assert.deepEqual(problems, []);
    await close();
  });

  it('opens a block from the list by a click anywhere on its row, and walks on from there', ONLY_LONG, async () => {
    const { page, close } = await scene.visit();
    await page.goto(`${scene.baseUrl}/sandbox/blocks`);
    await assertAccessible(page, 'blocks');
    const rows = page.locator('.blocks > li');
    const lefts = await rows
      .locator('time')
      .evaluateAll((times) => times.map((time) => time.getBoundingClientRect().left));
    assert.equal(new Set(lefts).size, 1, 'times stand in one column');
    await rows.last().scrollIntoViewIfNeeded();
    const box = await rows.last().boundingBox();
    assert.ok(box);
    await page.mouse.click(box.x + box.width - 30, box.y + box.height / 2);
    await page.getByRole('heading', { name: /^Block \d+$/ }).waitFor();
    await assertAccessible(page, 'block');
    await page.goto(`${scene.baseUrl}/sandbox/blocks/0`);
    await page.getByRole('link', { name: 'Newer' }).click();
    await page.getByRole('heading', { name: 'Block 1' }).waitFor();
    await close();
  });

  it('searches the full text of the reference, and goes there with the keyboard', ONLY_LONG, async () => {
    const { page, problems, close } = await scene.visit({ viewport: { width: 1280, height: 800 } });
    await page.goto(`${scene.baseUrl}/docs`);
    const search = page.getByRole('searchbox', { name: 'Search the reference' });
    await search.waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('referenceid expiresat');
    const shown = page.locator('#contents li a:visible:not(.group)');
    await page
      .getByRole('status')
      .getByText(/^\d+ found$/)
      .waitFor({ state: 'attached' });
    const names = await shown.allInnerTexts();
    assert.ok(
      names.some((name) => name.startsWith('Create a payment')),
      names.join(),
    );
    assert.ok(!names.some((name) => name.startsWith('Delete a merchant')), names.join());
    await page.keyboard.press('Enter');
    await page.waitForURL(/#post-v1-payments$/);
    await search.fill('refund');
    const found = (await shown.allInnerTexts()).map((name) => name.split('\n')[0] ?? '');
    assert.deepEqual(found.slice(0, 3), ['Refund a payment', 'Get a refund', 'List refunds']);
    assert.ok(
      found.every((name) => /refund/i.test(name)),
      'what is called so comes before what only speaks of it',
    );
    await search.fill('no such thing anywhere');
    assert.equal(await shown.count(), 0);
    await search.press('Escape');
    assert.ok((await shown.count()) > 20);
    // All endpoints and schemas consist of the same parts, and axe takes many seconds for all of them.
    await page.evaluate(
      `for (const each of document.querySelectorAll('main article:not(#post-v1-payments)')) each.remove()`,
    );
    await assertAccessible(page, 'reference', ['.bar', '#contents', '.intro', '#post-v1-payments']);
    assert.deepEqual(problems, []);
    await close();
  });

  it('copies an example unchanged', ONLY_LONG, async () => {
    const { context, page, close } = await scene.visit({ viewport: { width: 1280, height: 800 } });
    const origin = scene.baseUrl.replace('127.0.0.1', 'localhost');
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin });
    await page.goto(`${origin}/docs`);
    const request = page.locator('#post-v1-payments figure').first();
    await request.getByRole('button', { name: 'Copy request' }).click();
    await request.getByText('Copied').waitFor();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    assert.equal(copied, await request.locator('pre').textContent());
    assert.match(String(copied), /^curl -X POST .*\/v1\/payments/);
    await close();
  });

  it(
    'reads the reference without a script: no button that does nothing, old endpoints folded away',
    ONLY_LONG,
    async () => {
      const { page, close } = await scene.visit({ javaScriptEnabled: false, viewport: { width: 1280, height: 800 } });
      await page.goto(`${scene.baseUrl}/docs`);
      assert.equal(await page.getByRole('button').count(), 0);
      assert.equal(await page.getByRole('searchbox').count(), 0);
      const twin = page.locator('#post-v1-merchant-payment');
      assert.equal(await twin.isVisible(), false);
      await page.getByText('3 deprecated endpoints').click();
      assert.equal(await twin.isVisible(), true);
      await close();
    },
  );
});
