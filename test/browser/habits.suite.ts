import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { Page } from 'playwright-core';
import { en } from '../../web/src/dashboard/strings/en.ts';
import { payWith } from '../e2e/sandbox-payer.ts';
import { ONLY_LONG } from '../long.ts';
import { assertAccessible } from './accessible.ts';
import { type Scene, TEN_DOLLARS, TEN_TOKENS, type Visit } from './scene.ts';

const HOUR_MS = 3_600_000;
/** The pages of an owner, with their titles. Several of a section share one. */
const PAGES = [
  ['', en.home],
  ['payments', en.payments],
  ['refunds', en.refunds],
  ['late-money', en.lateMoney],
  ['payouts', en.payouts],
  ['links', en.paymentLinks],
  ['merchants', en.merchants],
  ['developers', en.developers],
  ['webhooks', en.developers],
  ['developers/events', en.developers],
  ['developers/requests', en.developers],
  ['team', en.team],
  ['team/audit-log', en.team],
  ['account', en.account],
] as const;

/** Everything that people do with any page of a browser, for the owner who is signed in. */
export function habitsSuite(opened: () => { readonly scene: Scene; readonly visit: Visit }): void {
  let scene: Scene;
  let visit: Visit;
  let dashboard: string;
  before(() => {
    ({ scene, visit } = opened());
    dashboard = `${new URL(scene.dashboardUrl).origin}/dashboard`;
  });

  const at = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  /** Presses Tab until the element with this name has the focus, as somebody without a mouse would. */
  const tabTo = async (page: Page, name: string | RegExp) => {
    for (let presses = 0; presses < 80; presses += 1) {
      const focused = await page.evaluate(
        `(() => { const { activeElement: it } = document; return it?.getAttribute('aria-label') ?? it?.labels?.[0]?.innerText ?? it?.innerText ?? ''; })()`,
      );
      const text = String(focused).trim();
      if (typeof name === 'string' ? text === name : name.test(text)) return;
      await page.keyboard.press('Tab');
    }
    assert.fail(`Tab does not reach ${name}`);
  };

  it('go back and forward through every page', ONLY_LONG, async () => {
    const { page } = visit;
    await page.goto(`${dashboard}/payments?status=expired`);
    await at(page, en.payments);
    await page.getByLabel(en.status, { exact: true }).selectOption('cancelled');
    await page.waitForURL(/status=cancelled/);
    const menu = page.getByRole('navigation', { name: en.menu });
    const names = [
      en.refunds,
      en.lateMoney,
      en.payouts,
      en.paymentLinks,
      en.merchants,
      en.developers,
      en.team,
      en.account,
      en.home,
    ];
    for (const name of names) {
      await menu.getByRole('link', { name, exact: true }).click();
      await at(page, name);
    }
    for (const name of [...names.toReversed().slice(1), en.payments]) {
      await page.goBack();
      await at(page, name);
    }
    assert.equal(await page.getByLabel(en.status, { exact: true }).inputValue(), 'cancelled', 'the filter is kept');
    for (const name of names) {
      await page.goForward();
      await at(page, name);
    }
  });

  it('come back to the same place of a list, and close a dialog by leaving the page', ONLY_LONG, async () => {
    const { page } = visit;
    await page.goto(`${dashboard}/payments`);
    await page.getByRole('row').nth(1).getByRole('link').click();
    await page.getByRole('heading', { name: en.timeline }).waitFor();
    await page.goBack();
    await page.getByRole('row').nth(1).waitFor();
    await page.getByRole('button', { name: en.export }).click();
    await page.getByRole('dialog').waitFor();
    await page.goForward();
    await page.getByRole('heading', { name: en.timeline }).waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  it('are accessible on the pages that no other test opens', async () => {
    const { page } = visit;
    for (const [path, title] of [
      ['links', en.paymentLinks],
      ['merchants', en.merchants],
      ['webhooks', en.developers],
    ] as const) {
      await page.goto(`${dashboard}/${path}`);
      await at(page, title);
      await page.getByText(en.loading).waitFor({ state: 'detached' });
      await assertAccessible(page, path);
    }
  });

  it('say that a search is too short, and mark the menu of a phone on pages that it has no link to', async () => {
    const { page } = visit;
    await page.goto(`${dashboard}/payments`);
    await at(page, en.payments);
    const search = page.getByRole('search').getByLabel(en.search);
    await search.fill('ab');
    await page.getByText(en.searchShort).waitFor();
    await search.fill('abc');
    await page.getByText(en.searchShort).waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 390, height: 844 });
    const isMarked = async (path: string, title: string) => {
      await page.goto(`${dashboard}/${path}`);
      await at(page, title);
      await page.getByRole('button', { name: en.allPages }).waitFor();
      const colour = await page.evaluate(`getComputedStyle(document.querySelector('.nav-more')).backgroundColor`);
      return colour !== 'rgba(0, 0, 0, 0)';
    };
    assert.deepEqual([await isMarked('payments', en.payments), await isMarked('team', en.team)], [false, true]);
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('load while the browser takes itself for offline: the gateway may be on this machine', async () => {
    const { page } = visit;
    await page.goto(`${dashboard}/payments`);
    await at(page, en.payments);
    await page.evaluate("dispatchEvent(new Event('offline'))");
    await page
      .getByRole('navigation', { name: en.menu })
      .getByRole('link', { name: en.merchants, exact: true })
      .click();
    await at(page, en.merchants);
    await page.getByRole('list', { name: en.merchants }).getByRole('listitem').first().waitFor();
    await page.evaluate("dispatchEvent(new Event('online'))");
  });

  it('of links say so when the merchants cannot be read, and when there are none', async () => {
    const { page } = visit;
    const merchants = /\/v1\/merchants\?limit=100$/;
    const answers = [
      [{ status: 403, json: { code: 'forbidden', message: 'not for you' } }, 'not for you'],
      [{ status: 200, json: { merchants: [], nextCursor: null } }, en.noLinks],
    ] as const;
    for (const [answer, words] of answers) {
      await page.route(merchants, (route) => route.fulfill(answer));
      await page.goto(`${dashboard}/links`);
      await page.getByText(words).waitFor();
      await page.unroute(merchants);
    }
  });

  it('are loaded after a limit of requests that is soon over', async () => {
    const { page } = visit;
    const merchants = /\/v1\/merchants\?limit=100$/;
    const headers = { 'Retry-After': '1' };
    const json = { code: 'rate_limited', message: 'too many' };
    await page.route(merchants, (route) => route.fulfill({ status: 429, headers, json }), { times: 1 });
    await page.goto(`${dashboard}/links`);
    await page.getByText(en.loading).waitFor({ state: 'detached' });
    assert.equal(await page.getByText('too many').count(), 0);
    await page.unroute(merchants);
  });

  it('show the days of the gateway while the clock of the person is wrong', ONLY_LONG, async () => {
    const { context } = visit;
    for (const [name, wrongByMs] of [
      ['an hour behind', -HOUR_MS],
      ['an hour ahead', HOUR_MS],
      ['two days ahead', 48 * HOUR_MS],
    ] as const) {
      const page = await context.newPage();
      await page.addInitScript(`
        const right = Date.now.bind(Date);
        globalThis.Date = class extends Date {
          constructor(...given) { super(...(given.length === 0 ? [right() + ${wrongByMs}] : given)); }
          static now() { return right() + ${wrongByMs}; }
        };`);
      const asked = page.waitForRequest(/\/v1\/statistics\/payments/);
      const answered = page.waitForResponse(/\/v1\/statistics\/payments/);
      await page.goto(dashboard);
      const from = new URL((await asked).url()).searchParams.get('from') ?? '';
      const { until } = (await (await answered).json()) as { until: string };
      assert.equal(Date.parse(until) - Date.parse(from), 29 * 24 * HOUR_MS, name);
      const paid = page.locator('.tile').filter({ hasText: en.paidPayments }).locator('.figure');
      await paid.waitFor();
      assert.notEqual(await paid.innerText(), '0', `${name}: the payments of today`);
      await page.goto(`${dashboard}/payments`);
      await page.getByText(en.following, { exact: true }).waitFor();
      await scene.createPayment(...TEN_DOLLARS, { referenceId: `CLOCK-${wrongByMs}` });
      await page.getByText(`CLOCK-${wrongByMs}`).waitFor();
      await page.close();
    }
  });

  it(
    'print every page in black on white, without its menu, and every row of a list that is loaded',
    ONLY_LONG,
    async () => {
      const { page } = visit;
      await page.emulateMedia({ colorScheme: 'dark' });
      for (const [path, title] of PAGES) {
        await page.goto(`${dashboard}/${path}`);
        await at(page, title);
        await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
        assert.equal(await page.getByRole('navigation', { name: en.menu }).isVisible(), false, path);
        const colours = await page.evaluate(
          '[getComputedStyle(document.documentElement).backgroundColor, getComputedStyle(document.querySelector("h1")).color]',
        );
        assert.deepEqual(colours, ['rgb(255, 255, 255)', 'rgb(22, 24, 29)'], path);
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        assert.ok(Number(overflow) <= 0, `${path}: ${overflow} px too wide for the paper`);
        await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
      }
      await page.goto(`${dashboard}/payments`);
      await page.setViewportSize({ width: 1280, height: 200 });
      await page.getByRole('row').nth(1).waitFor();
      const total = Number(await page.getByRole('table', { name: en.payments }).getAttribute('aria-rowcount'));
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      assert.equal(await page.locator('.printed tr').count(), total);
      await page.evaluate("dispatchEvent(new Event('afterprint'))");
      await page.locator('.printed').waitFor({ state: 'detached' });
      await page.setViewportSize({ width: 1280, height: 720 });
    },
  );

  it('go on after an upgrade, also where a page of the older version is gone from the gateway', ONLY_LONG, async () => {
    const { context } = visit;
    const page = await context.newPage();
    await page.goto(`${dashboard}/account`);
    await at(page, en.account);
    let isOld = true;
    let gone = 0;
    page.on('request', (request) => {
      if (request.isNavigationRequest()) isOld = false;
    });
    await page.route(/\/assets\/.*\.js$/, (route) => {
      if (!isOld) return route.continue();
      gone += 1;
      return route.fulfill({ status: 404, body: '' });
    });
    await page.getByRole('link', { name: en.team }).click();
    await at(page, en.team);
    assert.ok(gone > 0);
    await page.close();
  });

  it('find a payment, refund a part of it and export it by the keyboard alone', async () => {
    const { page } = visit;
    const { paymentId } = await scene.createPayment(...TEN_DOLLARS, { referenceId: 'KEYS-1' });
    await payWith(scene, await scene.createWallet({ USDC: TEN_TOKENS }), paymentId, 'USDC');
    await page.goto(dashboard);
    await at(page, en.home);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('KEYS-1');
    await page.keyboard.press('Enter');
    await page.getByRole('row').filter({ hasText: 'KEYS-1' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'ORDER-42' }).waitFor({ state: 'detached' });

    await tabTo(page, en.export);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    const saved = page.waitForEvent('download');
    await tabTo(page, en.export);
    await page.keyboard.press('Enter');
    assert.match((await saved).suggestedFilename(), /^payments-.*\.csv$/);
    await dialog.waitFor({ state: 'detached' });

    await tabTo(page, '$10.00');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1 }).getByText(en.statusSucceeded).waitFor();
    await tabTo(page, en.refund);
    await page.keyboard.press('Enter');
    await tabTo(page, /^Amount, at most/);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('4');
    await page.keyboard.press('Enter');
    // A refund waits for its block, which takes long on a busy machine.
    await page.getByRole('heading', { level: 1 }).getByText(en.statusPartlyRefunded).waitFor({ timeout: 180_000 });
    assert.equal(await dialog.count(), 0);
  });

  it('issue a key by the keyboard alone, and open the reference with it', ONLY_LONG, async () => {
    const { page, context } = visit;
    await page.goto(`${dashboard}/developers`);
    await at(page, en.developers);
    await tabTo(page, en.addKey);
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await tabTo(page, en.keyLabel);
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    const secret = await dialog.getByText(/^till_test_/).innerText();
    await tabTo(page, en.referenceWithKey);
    const opening = context.waitForEvent('page');
    await page.keyboard.press('Enter');
    const reference = await opening;
    const example = reference.locator('#post-v1-payments pre').first();
    await example.getByText(secret).waitFor();
    assert.ok(!reference.url().includes(secret) && !page.url().includes(secret));
    const field = reference.getByLabel('Your test key');
    assert.equal(await field.inputValue(), secret);
    await field.fill(`till_live_${'0'.repeat(39)}`);
    await reference.getByText('This is a live key.').waitFor();
    assert.match(await example.innerText(), /Api-Key: \$API_KEY/);
    await field.fill(secret);
    await reference.reload();
    await example.waitFor();
    assert.equal(await field.inputValue(), '', 'a reload forgets the key');
    assert.equal(
      await reference
        .evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])')
        .then((kept) => String(kept).includes(secret)),
      false,
    );
    await reference.close();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  });
}
