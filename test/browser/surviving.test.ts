import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { en } from '../../web/src/checkout/strings/en.ts';
import { ONLY_LONG } from '../long.ts';
import { missingBrowser } from './chromium.ts';
import { assertSpent, openScene, payWith, type Scene, steps, TEN_DOLLARS, TEN_TOKENS } from './scene.ts';

/** So many blocks confirm a payment of a thousand dollars here; blocks come when there is something to put into them. */
const DEEP = 3;
const THOUSAND_DOLLARS = ['iso4217/USD', '100000'] as const;

describe('the checkout survives, and shows the true state', { skip: ONLY_LONG.skip || missingBrowser() }, () => {
  let scene: Scene;
  before(async () => {
    scene = await openScene({ FINALITY_DEPTHS: `eip155:31337=1,${DEEP}@1000` });
  });
  after(() => scene?.close());

  it('with the transaction linked while the network confirms it: here, after a reload, and without a script', async () => {
    const { context, page, close } = await scene.visitWith({ USDC: 100n * TEN_TOKENS });
    const device = await scene.visit({ javaScriptEnabled: false });
    const { gatewayUrl } = await scene.createPayment(...THOUSAND_DOLLARS);
    await payWith(page, gatewayUrl, 'USDC');
    const linkOn = (on: Page) => on.getByRole('link', { name: en.viewTransaction });
    const href = await linkOn(page).getAttribute('href');
    await steps.isAt(page, en.confirmTitle);
    await page.reload();
    assert.equal(await linkOn(page).getAttribute('href'), href);
    await device.page.goto(gatewayUrl);
    assert.equal(await linkOn(device.page).getAttribute('href'), href);
    const [view] = await Promise.all([context.waitForEvent('page'), linkOn(page).click()]);
    await view.getByRole('heading', { name: 'What happened' }).waitFor();
    await steps.isAt(page, en.confirmTitle);
    for (let block = 1; block < DEEP; block += 1) await scene.createWallet({ USDC: 1n });
    await steps.isPaid(page);
    await device.close();
    await close();
  });

  it('through a restart of the gateway, with the payment made afterwards', async () => {
    const { page, wallet, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await page.goto(gatewayUrl);
    await steps.connect(page);
    await scene.restart(() => page.getByText(en.away).first().waitFor());
    await page.getByText(en.away).first().waitFor({ state: 'hidden' });
    await steps.pay(page);
    await steps.isPaid(page);
    await assertSpent(scene, wallet, 'USDC', 0n);
    await close();
  });

  it('through a restart between the signature and its delivery', async () => {
    const { page, injected, wallet, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await page.goto(gatewayUrl);
    await steps.connect(page);
    let sign = () => {};
    const isAllowed = new Promise<void>((resolve) => {
      sign = resolve;
    });
    injected.setWhim(async ({ method }) => {
      if (method === 'eth_signTypedData_v4') await isAllowed;
      return undefined;
    });
    await steps.pay(page);
    await steps.isAt(page, en.signTitle);
    await scene.restart(async () => {
      sign();
      await steps.isAt(page, en.deliverTitle);
    });
    await steps.isPaid(page);
    assert.equal(injected.prompts().length, 1);
    await assertSpent(scene, wallet, 'USDC', 0n);
    await close();
  });
});
