import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { en } from '../../web/src/checkout/strings/en.ts';
import { ONLY_LONG, onlyLongIf } from '../long.ts';
import { until } from '../until.ts';
import { missingBrowser } from './chromium.ts';
import { payWith, type Scene, SHOP, sharedScene, steps, TEN_DOLLARS, TEN_TOKENS, type Visit } from './scene.ts';

/** The countdown of the page before it returns the payer. */
const COUNTDOWN_MS = 3_000;

describe('the end of a checkout', { skip: missingBrowser(), concurrency: 2 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await sharedScene();
  });

  const CHECKOUT = { successUrl: `${SHOP}/ok`, errorUrl: `${SHOP}/no` };

  async function cancel({ page }: Visit): Promise<void> {
    await page.getByRole('button', { name: en.cancelPayment }).click();
    await page.getByRole('button', { name: en.cancelYes }).click();
  }

  it('is seen when the time runs out, and leads back to the shop', async () => {
    const { page, shopVisits, close } = await scene.visit();
    const expiresAt = Math.floor(Date.now() / 1000) + 5;
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS, { expiresAt, checkout: CHECKOUT });
    await page.goto(gatewayUrl);
    await steps.isAt(page, en.expiredTitle);
    await page.waitForURL(`${SHOP}/**`);
    assert.deepEqual(shopVisits, [`${SHOP}/no?payment_id=${paymentId}`]);
    await close();
  });

  it('does not ask the payer to go back to a shop that named no addresses', ONLY_LONG, async () => {
    const { page, close } = await scene.visit();
    const expiresAt = Math.floor(Date.now() / 1000) + 5;
    await page.goto((await scene.createPayment(...TEN_DOLLARS, { expiresAt })).gatewayUrl);
    await steps.isAt(page, en.expiredTitle);
    const text = await page.locator('main').innerText();
    assert.match(text, /Ask Demo shop for a new payment\./);
    assert.doesNotMatch(text, /go back/i);
    await close();
  });

  it('offers a receipt by mail, which arrives in the language of the page', ONLY_LONG, async () => {
    const { page, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await payWith(page, gatewayUrl, 'USDC');
    await steps.isAt(page, en.paidTitle);
    await page.getByRole('button', { name: en.mailReceipt }).click();
    const field = page.getByLabel(en.mailAddress);
    await field.fill('payer@localhost');
    await page.getByRole('button', { name: en.mailSend }).click();
    await page.getByText(en.mailFailed).waitFor();
    await field.fill('browser-payer@example.com');
    await page.getByRole('button', { name: en.mailSend }).click();
    await page.getByText('The receipt is on its way to browser-payer@example.com.').waitFor();
    const ofPayer = () => scene.mails.filter(({ to }) => to[0] === 'browser-payer@example.com');
    await until('the mail arrives', () => ofPayer().length > 0);
    assert.match(ofPayer()[0]?.text ?? '', /You paid 10\.00 USD to Demo shop\./);
    await close();
  });

  it('comes when the payer cancels, after one more question', ONLY_LONG, async () => {
    const visit = await scene.visit();
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS, { checkout: CHECKOUT });
    await visit.page.goto(gatewayUrl);
    await visit.page.getByRole('button', { name: en.cancelPayment }).click();
    await visit.page.getByRole('button', { name: en.cancelNo }).click();
    assert.equal(await scene.statusOf(paymentId), 'requires_action');
    await cancel(visit);
    await steps.isAt(visit.page, en.cancelledTitle);
    assert.equal(await scene.statusOf(paymentId), 'cancelled');
    await visit.page.waitForURL(`${SHOP}/**`);
    assert.deepEqual(visit.shopVisits, [`${SHOP}/no?payment_id=${paymentId}`]);
    await visit.close();
  });

  it('is seen at once when the shop cancels', async () => {
    const { page, close } = await scene.visit();
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await page.goto(gatewayUrl);
    await page.getByRole('button', { name: en.cancelPayment }).waitFor();
    await scene.call('POST', `/v1/payments/${paymentId}/cancel`, {});
    await steps.isAt(page, en.cancelledTitle);
    await close();
  });

  it('stays on its own screen where the shop named no addresses', ONLY_LONG, async () => {
    const visit = await scene.visit();
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await visit.page.goto(gatewayUrl);
    await cancel(visit);
    await visit.page.getByText(en.closePage).waitFor();
    assert.equal(visit.page.url(), gatewayUrl);
    assert.deepEqual(visit.shopVisits, []);
    await visit.close();
  });

  it('asks for nothing any more but for money that comes later', async () => {
    const visit = await scene.visit();
    await visit.page.clock.install();
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await visit.page.goto(gatewayUrl);
    await cancel(visit);
    await steps.isAt(visit.page, en.cancelledTitle);
    // A request from before the end may still be in flight.
    await visit.page.clock.runFor(5_000);
    await visit.page.waitForLoadState('networkidle');
    const before = visit.requests.length;
    // Longer than any pause of the page between two requests.
    await visit.page.clock.runFor(60_000);
    const asked = visit.requests.slice(before);
    assert.deepEqual(
      asked.filter((url) => !url.endsWith(`/v1/gateway/payment/${paymentId}`)),
      [],
    );
    assert.ok(asked.length <= 4, `${asked.length} requests in a minute`);
    await visit.close();
  });

  for (const [errorUrl, expected] of [
    [`${SHOP}/no?a=1&b=%2F`, `${SHOP}/no?a=1&b=%2F&payment_id=ID`],
    [`${SHOP}/no#part`, `${SHOP}/no?payment_id=ID#part`],
    [`${SHOP}:8443/no/`, `${SHOP}:8443/no/?payment_id=ID`],
    [`${SHOP}/grüße?größe=ä#ö`, `${SHOP}/gr%C3%BC%C3%9Fe?gr%C3%B6%C3%9Fe=%C3%A4&payment_id=ID#%C3%B6`],
  ] as const) {
    it(`appends the payment to ${errorUrl}`, onlyLongIf(!errorUrl.includes('#')), async () => {
      const visit = await scene.visit();
      const checkout = { successUrl: `${SHOP}/ok`, errorUrl };
      const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS, { checkout });
      await visit.page.clock.install();
      await visit.page.goto(gatewayUrl);
      await cancel(visit);
      await steps.isAt(visit.page, en.cancelledTitle);
      await Promise.all([visit.page.waitForURL(/^https:\/\/shop\.example/), visit.page.clock.runFor(COUNTDOWN_MS)]);
      assert.equal(visit.page.url(), expected.replace('ID', paymentId));
      await visit.close();
    });
  }

  it('is still the end after the back button, and asks for no second payment', async () => {
    const { page, injected, shopVisits, close } = await scene.visitWith({ USDC: 2n * TEN_TOKENS });
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS, { checkout: CHECKOUT });
    await payWith(page, gatewayUrl, 'USDC');
    await page.waitForURL(`${SHOP}/**`);
    await page.goBack();
    await steps.isPaid(page);
    assert.equal(injected.prompts().length, 1);
    await until('the shop was seen', () => shopVisits.length > 0);
    await close();
  });
});
