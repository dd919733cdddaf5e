import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { en } from '../../web/src/checkout/strings/en.ts';
import { ONLY_LONG } from '../long.ts';
import { missingBrowser } from './chromium.ts';
import { SILENCE } from './injected-wallet.ts';
import { payWith, type Scene, sharedScene, steps, TEN_DOLLARS, TEN_TOKENS } from './scene.ts';

describe('the checkout shows the true state', { skip: missingBrowser(), concurrency: 2 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await sharedScene();
  });

  it('after a reload at any step', async () => {
    const { page, injected, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await page.goto(gatewayUrl);
    await steps.isAt(page, en.readyTitle);
    await page.reload();
    await steps.connect(page);
    await page.reload();
    await steps.connect(page);
    injected.setWhim(({ method }) => (method === 'eth_signTypedData_v4' ? SILENCE : undefined));
    await steps.pay(page);
    await steps.isAt(page, en.signTitle);
    await page.reload();
    injected.setWhim(() => undefined);
    await steps.connect(page);
    await steps.pay(page);
    await steps.isAt(page, /^(Handing over|Confirming|Paid)/);
    await page.reload();
    await steps.isPaid(page);
    await page.reload();
    await steps.isPaid(page);
    await close();
  });

  it('in a second tab, and on a second device', ONLY_LONG, async () => {
    const { context, page, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    const device = await scene.visit();
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    const tab = await context.newPage();
    await tab.goto(gatewayUrl);
    await device.page.goto(gatewayUrl);
    await payWith(page, gatewayUrl, 'USDC');
    await Promise.all([page, tab, device.page].map((each) => steps.isPaid(each)));
    await device.close();
    await close();
  });

  it('offline and back again', async () => {
    const { context, page, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    await page.goto((await scene.createPayment(...TEN_DOLLARS)).gatewayUrl);
    await steps.connect(page);
    await context.setOffline(true);
    await page.getByText(en.offline).first().waitFor();
    await context.setOffline(false);
    await page.getByText(en.offline).first().waitFor({ state: 'hidden' });
    await steps.pay(page);
    await steps.isPaid(page);
    await close();
  });

  it('while a payment is refused and after it lapses: with the reason, and a way to pay again', ONLY_LONG, async () => {
    const { context, page, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    let status = 'requires_action';
    // These answers are simulated: a real lapse takes as long as the signature is valid, which is minutes.
    const [moves, details] = [/\/(confirm|status)(\?|$)/, /\/v1\/gateway\/payment\/[^/]+$/];
    await context.route(moves, (route) => {
      if (route.request().url().includes('/confirm')) status = 'processing';
      return route.fulfill({ json: { status, isFinal: false, pollInMs: 1_000, info: null } });
    });
    await context.route(details, async (route) => {
      const response = await route.fetch();
      const attempt = { refusal: 'short_balance', triesUntil: Math.floor(Date.now() / 1000) + 300 };
      await route.fulfill({ response, json: { ...(await response.json()), attempt } });
    });
    await page.goto(gatewayUrl);
    await steps.connect(page);
    await steps.pay(page);
    await steps.isAt(page, en.waitingTitle);
    await page.getByText(en.waitingForBalance).first().waitFor();
    await page.getByText(/^It is tried again for another [45]:\d\d\./).waitFor();
    status = 'requires_action';
    await page.getByText(en.lapsed).waitFor();
    await steps.isAt(page, en.choosingTitle);
    await context.unroute(moves);
    await context.unroute(details);
    await steps.pay(page);
    await steps.isPaid(page);
    await close();
  });

  for (const hours of [-1, 1]) {
    it(`on a device whose clock is wrong by ${hours} h`, ONLY_LONG, async () => {
      const { context, page, close } = await scene.visitWith({ USDC: TEN_TOKENS });
      await context.addInitScript((offMs) => {
        const now = Date.now;
        Date.now = () => now() + offMs;
      }, hours * 3_600_000);
      await page.goto((await scene.createPayment(...TEN_DOLLARS)).gatewayUrl);
      await page
        .getByText(/\b4:\d\d\b/)
        .first()
        .waitFor();
      await steps.connect(page);
      await steps.pay(page);
      await steps.isPaid(page);
      await close();
    });
  }

  it('also when there is nothing to show', ONLY_LONG, async () => {
    const { page, close } = await scene.visit();
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    for (const pid of ['', 'pay_01H0000000000000000000000A', '%3Cscript%3E', 'x'.repeat(5_000)]) {
      const response = await page.goto(gatewayUrl.replace(/pay_.*/, pid));
      assert.equal(response?.status(), 404);
      await steps.isAt(page, en.notFoundTitle);
    }
    await close();
  });
});
