import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { en as checkout } from '../../web/src/checkout/strings/en.ts';
import { en as dashboard } from '../../web/src/dashboard/strings/en.ts';
import { en as link } from '../../web/src/links/strings/en.ts';
import { en } from '../../web/src/pos/strings/en.ts';
import { payWith } from '../e2e/sandbox-payer.ts';
import { ONLY_LONG } from '../long.ts';
import { until } from '../until.ts';
import { acceptedSuite } from './accepted.suite.ts';
import { assertAccessible } from './accessible.ts';
import { brandingSuite } from './branding.suite.ts';
import { missingBrowser } from './chromium.ts';
import { linkOf } from './operator-link.ts';
import { openScene, type Scene, steps, TEN_TOKENS, type Visit, wordsOf } from './scene.ts';

/** True once the service worker of the point of sale has stored the page and its files. */
const IS_KEPT = `caches.open('till-pos').then((cache) => cache.match('/pos')).then((page) => page !== undefined)`;

describe('a shop without code', { skip: missingBrowser() }, () => {
  let scene: Scene;
  let owner: Visit;
  before(async () => {
    scene = await openScene();
    owner = await scene.visit();
    await owner.page.goto(scene.dashboardUrl);
    await owner.page.getByRole('button', { name: dashboard.later }).click();
    await owner.page.getByRole('button', { name: dashboard.signOut }).waitFor();
  });
  after(() => scene.close());

  const at = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();

  describe('with a payment link', () => {
    let url: string;

    it('creates it in the dashboard, and gets its QR code and a button', async () => {
      const { page } = owner;
      await page.goto(new URL('/dashboard/links', scene.dashboardUrl).href);
      await page.getByText(dashboard.noLinks).waitFor();
      await page.getByRole('button', { name: dashboard.addLink }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel(dashboard.linkFor).fill('Tea <b>for two</b> \u202e');
      await dialog.getByLabel(dashboard.amount).fill('1,000');
      await dialog.getByLabel(dashboard.stock).fill('2');
      await dialog.getByRole('button', { name: dashboard.addLink }).click();
      await dialog.getByText(dashboard.badAmount).waitFor();
      await dialog.getByLabel(dashboard.amount).fill('10');
      await assertAccessible(page, 'new link');
      await dialog.getByRole('button', { name: dashboard.addLink }).click();
      url = await dialog.getByText(/^https?:\/\/[^"]*\/l\/[0-9A-Z]{26}$/).innerText();
      await dialog.getByRole('img', { name: dashboard.qrOfLink }).waitFor();
      assert.match(
        await dialog.getByText(/^<a href/).innerText(),
        /<a href="[^"]+\/l\/\w{26}" style="[^"]+">Pay \$10\.00<\/a>/,
      );
      await assertAccessible(page, 'shared link');
      await dialog.getByRole('button', { name: dashboard.close }).click();
      await page.getByText('Tea <b>for two</b>').waitFor();
      await assertAccessible(page, 'links');
    });

    it('is paid until its stock is gone, on a page without a script', async () => {
      const payer = await scene.visitWith({ USDC: TEN_TOKENS });
      const { page } = payer;
      await page.goto(url);
      await at(page, 'Tea <b>for two</b>');
      assert.deepEqual(
        payer.requests.filter((each) => each.endsWith('.js')),
        [],
      );
      await assertAccessible(page, 'link');
      await page.getByRole('button', { name: 'Pay $10.00' }).click();
      await steps.connect(page);
      await steps.choose(page, 'USDC');
      await steps.pay(page);
      await steps.isPaid(page);

      const order = async () => {
        const form = await fetch(url, { method: 'POST', body: new URLSearchParams(), redirect: 'manual' });
        return form.headers.get('location') ?? '';
      };
      const [ordered, tooLate] = [await order(), await order()];
      const second = await scene.createWallet({ USDC: TEN_TOKENS });
      await payWith(scene, second, new URL(ordered).searchParams.get('pid') ?? '', 'USDC');

      await page.goto(tooLate);
      await page.getByRole('button', { name: 'Test Wallet' }).click();
      await steps.isAt(page, checkout.soldOutTitle);
      await page.getByText(checkout.soldOutText).waitFor();
      assert.equal(await page.getByText(checkout.nothingOfferedTitle).count(), 0);
      assert.equal(await page.getByText(checkout.noFundsTitle).count(), 0);

      await page.goto(url);
      await page.getByText(link.soldOutTitle).waitFor();
      assert.equal(await page.getByRole('button').count(), 0);
      await assertAccessible(page, 'sold out');
      assert.deepEqual([payer.strangers, payer.problems], [[], []]);
      await payer.close();
    });

    it('refuses an amount outside the bounds in the words of the payer', ONLY_LONG, async () => {
      const { paymentLink } = await scene.call<{ paymentLink: { url: string } }>('POST', '/v1/payment-links', {
        description: 'A gift',
        minimum: { unit: 'iso4217/USD', value: '100' },
        maximum: { unit: 'iso4217/USD', value: '5000' },
      });
      const visitor = await scene.visit({ viewport: { width: 390, height: 844 } });
      const { page } = visitor;
      await page.goto(paymentLink.url);
      await page.getByLabel(wordsOf(link.amountLabel)).fill('50.01');
      await page.getByRole('button', { name: link.continueTo }).click();
      await page.getByRole('alert').getByText(wordsOf(link.badAmount)).waitFor();
      assert.equal(await page.getByLabel(wordsOf(link.amountLabel)).inputValue(), '50.01');
      await assertAccessible(page, 'refused amount');
      await page.goto(`${paymentLink.url}?lang=ar`);
      assert.equal(await page.locator('html').getAttribute('dir'), 'rtl');
      await visitor.close();
    });
  });

  describe('with accepted assets', () => acceptedSuite(() => ({ scene, owner })));

  describe('with a brand', () => brandingSuite(() => ({ scene, owner })));

  describe('with the point of sale', () => {
    let till: Visit;

    it('signs a cashier’s device in by a code that the owner shows', async () => {
      const { page } = owner;
      await page.getByRole('link', { name: dashboard.team }).click();
      await page.getByRole('button', { name: dashboard.invite }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel(dashboard.name).fill('Casey');
      await dialog.getByLabel(dashboard.email).fill('casey@shop.example');
      await dialog.getByLabel(dashboard.belongsTo).selectOption(scene.merchantId);
      await dialog.getByRole('radio', { name: new RegExp(`^${dashboard.roleCashier}`) }).check();
      await dialog.getByRole('button', { name: dashboard.invite }).click();
      await dialog.getByRole('img', { name: dashboard.deviceCode }).waitFor();
      const code = await dialog.getByText(/\/pos#/).innerText();
      await assertAccessible(page, 'code for a device');
      await dialog.getByRole('button', { name: dashboard.close }).click();

      till = await scene.visit({ viewport: { width: 390, height: 844 } });
      await till.page.goto(new URL('/pos', code).href);
      await at(till.page, en.signInTitle);
      await assertAccessible(till.page, 'sign in of a device');
      await till.page.goto(code);
      await till.page.reload();
      await till.page.getByRole('button', { name: '7' }).waitFor();
      await till.page.locator('.top-logo').waitFor();
      await till.page.locator('link[href="/brand/635bff.css"]').waitFor({ state: 'attached' });
      assert.ok(!till.page.url().includes('#'), 'the token is out of the address');
    });

    it('takes a payment through a lost connection, and says paid when it has succeeded', async () => {
      const { page, context } = till;
      for (const key of ['1', '0', '00']) await page.getByRole('button', { name: key, exact: true }).click();
      await page.getByRole('radio', { name: '10 %' }).check();
      await assertAccessible(page, 'keypad');
      await page.getByRole('button', { name: wordsOf(en.charge) }).click();
      const code = page.getByRole('img', { name: en.qrLabel });
      const url = (await code.getAttribute('data-url')) ?? '';
      await page.getByText('$11.00').waitFor();
      await assertAccessible(page, 'waiting');

      await context.setOffline(true);
      await page.getByText(en.offline).waitFor();
      const payer = await scene.visitWith({ USDC: 2n * TEN_TOKENS });
      await payer.page.goto(url);
      await steps.connect(payer.page);
      await steps.choose(payer.page, 'USDC');
      await steps.pay(payer.page);
      await steps.isPaid(payer.page);
      await payer.close();
      assert.equal(await page.getByText(en.paidTitle, { exact: true }).count(), 0, 'nobody has told the device');
      await context.setOffline(false);
      await page.getByRole('heading', { name: en.paidTitle }).waitFor();
      await assertAccessible(page, 'paid');
      await page.reload();
      await page.getByRole('heading', { name: en.paidTitle }).waitFor();
      await page.getByRole('button', { name: en.newPayment }).click();
      await page.getByRole('listitem').filter({ hasText: '$11.00' }).getByText(en.paidTitle).waitFor();
    });

    it('keeps the amount and the tip of an order that was refused, which can be charged again', async () => {
      const { page } = till;
      const refusal = { code: 'params_validation', message: 'This currency cannot be paid here.' };
      let asked = 0;
      await page.route('**/v1/payments', (route) => {
        asked += 1;
        return route.fulfill({ status: 400, json: refusal });
      });
      for (const key of ['1', '2', '5', '0']) await page.getByRole('button', { name: key, exact: true }).click();
      await page.getByRole('radio', { name: '10 %' }).check();
      await page.getByRole('button', { name: 'Charge $13.75' }).click();
      await page.getByRole('alert').getByText(refusal.message).waitFor();
      await page.locator('output').getByText('$12.50', { exact: true }).waitFor();
      await page.unroute('**/v1/payments');
      await page.getByRole('button', { name: 'Charge $13.75' }).click();
      await page.getByRole('img', { name: en.qrLabel }).waitFor();
      await page.getByText('$13.75', { exact: true }).waitFor();
      assert.equal(asked, 1);
      await page.getByRole('button', { name: en.cancel }).click();
      await page.getByRole('heading', { name: en.cancelledTitle }).waitFor();
      await page.getByRole('button', { name: en.newPayment }).click();
    });

    it('shows money that came in addition, at the end of a sale and in the list', ONLY_LONG, async () => {
      const { page } = till;
      // The sandbox pays such an order twice.
      await page.route('**/v1/payments', (route) => {
        const order: object = route.request().postDataJSON();
        return route.continue({ postData: { ...order, metadata: { sandbox: 'double' } } });
      });
      for (const key of ['4', '00']) await page.getByRole('button', { name: key, exact: true }).click();
      await page.getByRole('button', { name: 'Charge $4.00' }).click();
      const url = await page.getByRole('img', { name: en.qrLabel }).getAttribute('data-url');
      await page.unroute('**/v1/payments');
      const [id] = /[0-9A-Z]{26}/.exec(url ?? '') ?? [];
      await payWith(scene, await scene.createWallet({ USDC: TEN_TOKENS }), `pay_${id}`, 'USDC');
      await page.getByRole('heading', { name: en.paidTitle }).waitFor();
      const lines = page.getByRole('status').filter({ hasText: en.lateText });
      await lines.getByText(/ETH$/).waitFor({ timeout: 60_000 });
      await assertAccessible(page, 'paid twice');
      await page.getByRole('button', { name: en.newPayment }).click();
      await page.getByRole('listitem').filter({ hasText: '$4.00' }).getByText(/ETH$/).waitFor();
    });

    it('goes on with an order after a loss of power before the answer, as one payment', ONLY_LONG, async () => {
      const { page } = till;
      const created: string[] = [];
      await page.route('**/v1/payments', async (route) => {
        // The request comes from the test, and tells the gateway what a browser would tell it.
        const headers = { ...route.request().headers(), 'sec-fetch-site': 'same-origin' };
        const answer = await route.fetch({ headers });
        created.push((await answer.json()).paymentId);
        await (created.length === 1 ? route.abort() : route.fulfill({ response: answer }));
      });
      await page.getByRole('button', { name: '5', exact: true }).click();
      await page.getByRole('button', { name: '00', exact: true }).click();
      await page.getByRole('button', { name: wordsOf(en.charge) }).click();
      await page.getByText(en.offline).waitFor();
      await page.reload();
      await page.getByRole('img', { name: en.qrLabel }).waitFor();
      assert.equal(new Set(created).size, 1);
      await page.unroute('**/v1/payments');
      await page.getByRole('button', { name: en.cancel }).click();
      await page.getByRole('heading', { name: en.cancelledTitle }).waitFor();
      assert.equal(await scene.statusOf(created[0] ?? ''), 'cancelled');
      await page.getByRole('button', { name: en.newPayment }).click();
    });

    it('opens without a connection after one visit', async () => {
      const visit = await scene.visit();
      await visit.page.goto(new URL('/pos', till.page.url()).href);
      await at(visit.page, en.signInTitle);
      await until('the page is kept', () => visit.page.evaluate(IS_KEPT));
      await visit.context.setOffline(true);
      await visit.page.reload();
      await visit.page.getByText(en.offline).waitFor();
      await visit.close();
    });

    it('is open in one window of a device', async () => {
      const second = await till.context.newPage();
      await second.goto(new URL('/pos', till.page.url()).href);
      await at(second, en.otherWindowTitle);
      await second.close();
    });

    it('takes two payments at once on two devices with one session, each its own', ONLY_LONG, async () => {
      const copy = await scene.visit({ storageState: await till.context.storageState() });
      await copy.page.goto(new URL('/pos', till.page.url()).href);
      const urls = await Promise.all(
        [till.page, copy.page].map(async (page) => {
          await page.getByRole('button', { name: '7', exact: true }).click();
          await page.getByRole('button', { name: '00', exact: true }).click();
          await page.getByRole('button', { name: wordsOf(en.charge) }).click();
          return page.getByRole('img', { name: en.qrLabel }).getAttribute('data-url');
        }),
      );
      assert.equal(new Set(urls).size, 2);
      await copy.page.getByRole('button', { name: en.cancel }).click();
      await copy.page.getByRole('heading', { name: en.cancelledTitle }).waitFor();
      assert.equal(await till.page.getByRole('img', { name: en.qrLabel }).getAttribute('data-url'), urls[0]);
      await till.page.getByRole('button', { name: en.cancel }).click();
      await till.page.getByRole('heading', { name: en.cancelledTitle }).waitFor();
      await till.page.getByRole('button', { name: en.newPayment }).click();
      await copy.close();
    });

    it('can be revoked by the owner', async () => {
      const { page } = owner;
      await page
        .getByRole('listitem')
        .filter({ hasText: 'Casey' })
        .getByRole('button', { name: dashboard.devices })
        .click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: dashboard.endSession }).click();
      await dialog.getByText(dashboard.noDevices).waitFor();
      await assertAccessible(page, 'devices');
      await dialog.getByRole('button', { name: dashboard.close }).click();
      await till.page.reload();
      await at(till.page, en.signInTitle);
      assert.deepEqual([till.strangers, owner.strangers], [[], []]);
      const unexpected = till.problems.filter(
        (text) => !/status of 40[01]|ERR_INTERNET_DISCONNECTED|ERR_FAILED/.test(text),
      );
      assert.deepEqual(unexpected, []);
    });

    it('can be installed, and keeps the content policy', async () => {
      const { origin } = new URL(till.page.url());
      const answer = await fetch(`${origin}/pos`);
      assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'; script-src 'self'/);
      const manifest = JSON.parse(await (await fetch(`${origin}/pos/manifest.webmanifest`)).text());
      assert.deepEqual([manifest.start_url, manifest.scope, manifest.display], ['/pos', '/pos', 'standalone']);
      const worker = await fetch(`${origin}/pos/worker.js`);
      assert.equal(worker.headers.get('service-worker-allowed'), '/pos');
      const isControlled = 'navigator.serviceWorker.ready.then((r) => r.active !== null)';
      assert.equal(await till.page.evaluate(isControlled), true);
      await till.close();
    });

    it('opens with its keypad and its styles without a connection, after a first visit that signed the device in', async () => {
      const { hash, origin } = new URL(await linkOf(scene, 'Casey'));
      const visit = await scene.visit({ viewport: { width: 390, height: 844 } });
      const { page } = visit;
      const key = page.getByRole('button', { name: '7', exact: true });
      const keyWidth = async () => Math.round((await key.boundingBox())?.width ?? 0);
      await page.goto(new URL(`/pos${hash}`, origin).href);
      await key.waitFor();
      const width = await keyWidth();
      await until('the page is kept', () => page.evaluate(IS_KEPT));
      await visit.context.setOffline(true);
      await page.reload();
      await key.waitFor();
      assert.equal(await keyWidth(), width, 'the stylesheet is applied');
      await page.getByText(en.offline).waitFor();
      await visit.close();
    });
  });
});
