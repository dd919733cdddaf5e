import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { parseEther } from 'viem';
import { en } from '../../web/src/checkout/strings/en.ts';
import { ONLY_LONG } from '../long.ts';
import { assertAccessible } from './accessible.ts';
import { missingBrowser } from './chromium.ts';
import { SILENCE } from './injected-wallet.ts';
import { payWith, type Scene, SHOP, sharedScene, steps, TEN_DOLLARS, TEN_TOKENS } from './scene.ts';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

describe('everybody can read and use the checkout', { skip: missingBrowser(), concurrency: 2 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await sharedScene();
  });

  it('in every state and both themes: axe finds nothing', ONLY_LONG, async () => {
    const visit = await scene.visitWith({ USDT: TEN_TOKENS, ETH: parseEther('1') });
    const { page, injected } = visit;
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    injected.setWhim(({ method }) => (method === 'eth_requestAccounts' ? SILENCE : undefined));
    await page.goto(gatewayUrl);
    await page.getByRole('button', { name: 'Test Wallet' }).waitFor();
    await assertAccessible(page, 'ready');
    await page.getByRole('button', { name: 'Test Wallet' }).click();
    await steps.isAt(page, en.connectingTitle);
    await assertAccessible(page, 'connecting');
    injected.setWhim(({ method }) => (method.startsWith('eth_sign') ? SILENCE : undefined));
    await page.goto(gatewayUrl);
    await steps.connect(page);
    await assertAccessible(page, 'choosing');
    await page.getByRole('button', { name: en.cancelPayment }).click();
    await assertAccessible(page, 'cancelling');
    await steps.choose(page, 'USDT');
    await steps.pay(page);
    await steps.isAt(page, en.setupTitle);
    await assertAccessible(page, 'set-up');
    await page.getByRole('button', { name: en.setupContinue }).click();
    await steps.isAt(page, en.signTitle);
    await assertAccessible(page, 'signing');
    injected.setWhim(() => undefined);
    await page.goto(gatewayUrl);
    await steps.connect(page);
    await steps.choose(page, 'USDT');
    await steps.pay(page);
    await steps.isPaid(page);
    await assertAccessible(page, 'paid');
    const ended = await scene.createPayment(...TEN_DOLLARS);
    await scene.call('POST', `/v1/payments/${ended.paymentId}/cancel`, {});
    await page.goto(ended.gatewayUrl);
    await steps.isAt(page, en.cancelledTitle);
    await assertAccessible(page, 'cancelled');
    await page.goto(new URL('/?pid=none', gatewayUrl).href);
    await steps.isAt(page, en.notFoundTitle);
    await assertAccessible(page, 'not found');
    await visit.close();
  });

  it('with the keyboard alone', async () => {
    const { page, close } = await scene.visitWith({ USDC: TEN_TOKENS, ETH: parseEther('1') });
    await page.goto((await scene.createPayment(...TEN_DOLLARS)).gatewayUrl);
    await page.getByRole('button', { name: 'Test Wallet' }).waitFor();
    await tabTo(page, 'Test Wallet');
    await page.keyboard.press('Enter');
    await steps.isAt(page, en.choosingTitle);
    await tabTo(page, 'ETH|USDC');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await tabTo(page, '^Pay ');
    await page.keyboard.press('Enter');
    await steps.isPaid(page);
    await close();
  });

  it('on a phone: nothing is cut off, and buttons are large enough for a thumb', ONLY_LONG, async () => {
    const { page, close } = await scene.visitWith({ USDC: TEN_TOKENS }, PHONE);
    await payWith(page, (await scene.createPayment(...TEN_DOLLARS)).gatewayUrl, 'USDC');
    await steps.isPaid(page);
    assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
    await page.goto((await scene.createPayment(...TEN_DOLLARS)).gatewayUrl);
    const { height = 0 } = (await page.getByRole('button', { name: 'Test Wallet' }).boundingBox()) ?? {};
    assert.ok(height >= 44, `the button is ${height} pixels high`);
    await close();
  });

  it('without JavaScript, as a page that refreshes itself until the end', ONLY_LONG, async () => {
    const { page, close } = await scene.visit({ javaScriptEnabled: false });
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await page.goto(gatewayUrl);
    await page.getByText('Demo shop').first().waitFor();
    assert.match(await page.locator('main').innerText(), /\$10\.00/);
    assert.equal(await page.getByRole('button').count(), 0, 'nothing that would not work');
    await scene.call('POST', `/v1/payments/${paymentId}/cancel`, {});
    await steps.isAt(page, en.cancelledTitle);
    assert.equal(await page.locator('meta[http-equiv="refresh"]').count(), 0);
    await close();
  });

  it('in their own language and direction', async () => {
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    for (const [locale, lang, dir] of [
      ['de-DE', 'de', 'ltr'],
      ['fr-FR', 'fr', 'ltr'],
      ['es-ES', 'es', 'ltr'],
      ['pt-BR', 'pt', 'ltr'],
      ['ja-JP', 'ja', 'ltr'],
      ['ar-EG', 'ar', 'rtl'],
    ] as const) {
      const { page, problems, close } = await scene.visit({ locale, ...PHONE });
      await page.goto(gatewayUrl);
      await page.locator('h2').first().waitFor();
      assert.deepEqual(await page.evaluate('[document.documentElement.lang, document.documentElement.dir]'), [
        lang,
        dir,
      ]);
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, locale);
      assert.deepEqual(problems, [], locale);
      await close();
    }
  });

  it('and are sent on without a word about where they came from', ONLY_LONG, async () => {
    const { context, page, close } = await scene.visit();
    const referrers: (string | undefined)[] = [];
    await context.route(`${SHOP}/no**`, async (route) => {
      referrers.push((await route.request().allHeaders()).referer);
      await route.fulfill({ contentType: 'text/html', body: 'back' });
    });
    const checkout = { successUrl: `${SHOP}/ok`, errorUrl: `${SHOP}/no` };
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS, { checkout });
    await scene.call('POST', `/v1/payments/${paymentId}/cancel`, {});
    await page.goto(gatewayUrl);
    await page.waitForURL(`${SHOP}/no**`);
    assert.deepEqual(referrers, [undefined]);
    await close();
  });
});

const MAX_TABS = 30;

/** Presses Tab until the focus is on an element with that name. */
async function tabTo(page: Page, name: string): Promise<void> {
  const pattern = new RegExp(name);
  for (let count = 0; count < MAX_TABS; count += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(
      '(document.activeElement?.closest("label") ?? document.activeElement)?.textContent ?? ""',
    );
    if (pattern.test(String(focused))) return;
  }
  throw new Error(`Tab never came to ${name}.`);
}
