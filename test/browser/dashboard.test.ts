import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { en } from '../../web/src/dashboard/strings/en.ts';
import { payWith } from '../e2e/sandbox-payer.ts';
import { ONLY_LONG } from '../long.ts';
import { startReceiver } from '../receiver.ts';
import { until } from '../until.ts';
import { assertAccessible } from './accessible.ts';
import { withAuthenticator } from './authenticator.ts';
import { missingBrowser } from './chromium.ts';
import { deskSuite } from './desk.suite.ts';
import { habitsSuite } from './habits.suite.ts';
import { merchantsSuite } from './merchants.suite.ts';
import { operatorSuite } from './operator.suite.ts';
import { openScene, type Scene, TEN_DOLLARS, TEN_TOKENS, type Visit } from './scene.ts';

describe('the dashboard', { skip: missingBrowser() }, () => {
  let scene: Scene;
  let visit: Visit;
  /** The name by which the gateway is known: cookies and passkeys belong to it. */
  let origin: string;
  before(async () => {
    scene = await openScene();
    origin = new URL(scene.dashboardUrl).origin;
    visit = await scene.visit();
    await withAuthenticator(visit.context, visit.page);
  });
  after(() => scene.close());

  const at = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();

  it('is opened by the link of the banner, once, and then by the passkey', async () => {
    const { page } = visit;
    await page.goto(scene.dashboardUrl);
    await at(page, en.firstPasskeyTitle.replace('{name}', 'Demo owner'));
    assert.ok(!page.url().includes('#'), 'the token is out of the address');
    await assertAccessible(page, 'first passkey');
    await page.getByRole('button', { name: en.addPasskey }).click();
    await at(page, en.home);
    await page.getByRole('button', { name: en.signOut }).click();
    await at(page, en.signInTitle);
    await assertAccessible(page, 'sign in');
    await page.goto(`${origin}/dashboard/payments`);
    await at(page, en.signInTitle);
    await page.goto(scene.dashboardUrl);
    await at(page, en.joinFailedTitle);
    await page.getByRole('link', { name: en.signInTitle }).click();
    await page.getByRole('button', { name: en.signInButton }).click();
    await at(page, en.home);
  });

  it('shows a payment when it is created, and follows it to its end and its refund', async () => {
    const { page } = visit;
    await page.getByText(en.noVolume).first().waitFor();
    await assertAccessible(page, 'home without payments');
    await page.getByRole('link', { name: en.payments }).click();
    await page.getByText(en.following, { exact: true }).waitFor();
    const { paymentId } = await scene.createPayment(...TEN_DOLLARS, { referenceId: 'ORDER-42' });
    const row = page.getByRole('row').filter({ hasText: 'ORDER-42' });
    await row.waitFor();
    await assertAccessible(page, 'payments');
    await page.getByLabel(en.search, { exact: true }).fill('ORDER-42');
    await page.waitForURL(/search=ORDER-42/);
    await page.getByLabel(en.status, { exact: true }).selectOption('succeeded');
    await page.getByText(en.noMatches).waitFor();
    await page.getByRole('button', { name: en.clearFilters }).click();
    const choices = (label: string) => page.getByLabel(label, { exact: true }).locator('option').allTextContents();
    assert.deepEqual(await choices(en.network), [en.anyNetwork, 'Till Sandbox'], 'the configured networks alone');
    assert.deepEqual((await choices(en.token)).toSorted(), [en.anyToken, 'ETH', 'EURC', 'USDC', 'USDT'].toSorted());
    await row.getByRole('link').click();
    const title = page.getByRole('heading', { level: 1 });
    await title.getByText(en.statusRequiresAction).waitFor();
    await assertAccessible(page, 'payment');

    const wallet = await scene.createWallet({ USDC: TEN_TOKENS });
    await payWith(scene, wallet, paymentId, 'USDC');
    await title.getByText(en.statusSucceeded).waitFor();
    await page.getByRole('heading', { name: en.moneyFlow }).waitFor();
    await page.getByRole('button', { name: en.refund, exact: true }).click();
    const dialog = page.getByRole('dialog');
    const amount = dialog.getByLabel(/^Amount, at most \$10\.00$/);
    await amount.fill('10.01');
    assert.ok(await dialog.getByRole('button', { name: en.refund, exact: true }).isDisabled());
    await amount.fill('5');
    await assertAccessible(page, 'refund');
    await dialog.getByRole('button', { name: /^Refund \$5\.00$/ }).click();
    await title.getByText(en.statusPartlyRefunded).waitFor();
    await page.getByRole('button', { name: en.refund, exact: true }).click();
    await dialog.getByRole('button', { name: /^Refund \$5\.00$/ }).click();
    await title.getByText(en.statusRefunded).waitFor();
    await assertAccessible(page, 'refunded payment');
  });

  it('finds a payment by its transaction, and exports what it finds', async () => {
    const { page } = visit;
    await scene.createPayment(...TEN_DOLLARS, { referenceId: 'ORDER-43' });
    await page.getByRole('link', { name: en.payments }).first().click();
    await page.getByRole('row').filter({ hasText: 'ORDER-43' }).waitFor();
    await page.getByText(en.columns, { exact: true }).first().click();
    await page.getByRole('checkbox', { name: en.transaction }).check();
    const hash = await page
      .getByRole('row')
      .filter({ hasText: 'ORDER-42' })
      .locator('.col-transaction code')
      .getAttribute('title');
    await page.getByLabel(en.search, { exact: true }).fill(hash ?? '');
    await page.getByRole('row').filter({ hasText: 'ORDER-43' }).waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'ORDER-42' }).waitFor();
    await page.reload();
    await page.getByRole('columnheader', { name: en.transaction }).waitFor();

    await page.getByRole('button', { name: en.export }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('radio', { name: new RegExp(`^${en.exportBookkeeping}`) }).check();
    await assertAccessible(page, 'export');
    const saved = page.waitForEvent('download');
    await dialog.getByRole('button', { name: en.export }).click();
    const file = await readFile(await (await saved).path(), 'utf8');
    const [head = [], ...lines] = file
      .trim()
      .split('\r\n')
      .map((line) => line.split(','));
    const count = (type: string) => lines.filter((line) => line[1] === type).length;
    assert.deepEqual([head[1], count('payment'), count('settlement') > 0, count('refund')], ['type', 1, true, 2]);
    const total = lines.reduce((sum, line) => sum + Math.round(Number(line[6]) * 1e6), 0);
    assert.equal(total, 0, 'the lines add up to zero');
    await dialog.waitFor({ state: 'detached' });

    await page.getByRole('link', { name: en.home }).click();
    await page.getByRole('img', { name: `${en.volume}, USD` }).waitFor();
    await until('the steps are counted', async () => {
      const text = await page.getByRole('listitem').filter({ hasText: en.stepPaid }).innerText();
      return text.includes('1');
    });
    await assertAccessible(page, 'home');
  });

  it('goes anywhere by the keyboard', async () => {
    const { page } = visit;
    await page.keyboard.press('Control+k');
    await page.keyboard.type('tea');
    await page.keyboard.press('Enter');
    await at(page, en.team);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('ORDER-4');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/dashboard\/payments\?search=ORDER-4$/);
    await page.goBack();
    await at(page, en.team);
  });

  it('invites a person, who sees what the role allows', async () => {
    const { page } = visit;
    await page.getByRole('button', { name: en.invite }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(en.name).fill('Casey <b>Cashier</b>');
    await dialog.getByLabel(en.email).fill('casey@shop.example');
    await dialog.getByRole('radio', { name: new RegExp(`^${en.roleCashier}`) }).check();
    await assertAccessible(page, 'invitation');
    await dialog.getByRole('button', { name: en.invite }).click();
    const link = await dialog.getByText(/\/dashboard\/join#/).innerText();
    await dialog.getByRole('button', { name: en.close }).click();
    await page.getByText('Casey <b>Cashier</b>').waitFor();
    await assertAccessible(page, 'team');

    const other = await scene.visit();
    await withAuthenticator(other.context, other.page);
    await other.page.goto(link);
    await other.page.getByRole('button', { name: en.later }).click();
    await at(other.page, en.home);
    assert.equal(await other.page.getByRole('link', { name: en.team }).count(), 0);
    await other.page.goto(`${origin}/dashboard/team`);
    await other.page.getByRole('alert').waitFor();

    await page.getByRole('listitem').filter({ hasText: 'Casey' }).getByRole('button', { name: en.remove }).click();
    await page.getByRole('dialog').getByRole('button', { name: en.remove }).click();
    await page.getByRole('listitem').filter({ hasText: 'Casey' }).waitFor({ state: 'detached' });
    await other.page.goto(`${origin}/dashboard`);
    await at(other.page, en.signInTitle);
    await other.close();
  });

  it('adds a merchant, changes it, and shows where its money goes', ONLY_LONG, async () => {
    const { page } = visit;
    await page.getByRole('link', { name: en.merchants }).click();
    await page.getByRole('button', { name: en.addMerchant }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(en.name).fill('Kiosk \u202e"><script>');
    await dialog.getByLabel(en.contactEmail).fill('kiosk@shop.example');
    await dialog.getByRole('button', { name: en.addMerchant }).click();
    await page.getByRole('link', { name: 'Kiosk "><script>' }).click();
    await page.getByText(en.noDestinations).waitFor();
    await page.getByRole('button', { name: en.edit }).click();
    await dialog.getByLabel(en.name).fill('Kiosk');
    await dialog.getByRole('button', { name: en.save }).click();
    await at(page, `Kiosk ${en.merchantActive}`);
    await page.goto(`${origin}/dashboard/merchants/${scene.merchantId}`);
    await page.getByRole('button', { name: en.change }).first().click();
    const account = dialog.getByLabel(en.newAccount.replace('{network}', 'eip155:31337'));
    await account.fill('0x1');
    await dialog.getByRole('button', { name: en.save }).click();
    await dialog.getByRole('alert').waitFor();
    await account.fill(`0x${'1'.repeat(40)}`);
    await dialog.getByRole('button', { name: en.save }).click();
    await page.getByText(`eip155:31337:0x${'1'.repeat(40)}`).waitFor();
    await assertAccessible(page, 'merchant');
    await page.getByRole('link', { name: en.team }).click();
  });

  it('adds a webhook endpoint, and sends a delivery again', async () => {
    const { page } = visit;
    const receiver = await startReceiver();
    const url = `${receiver.origin}/hook`;
    await page.getByRole('link', { name: en.developers }).click();
    await page.getByRole('link', { name: en.webhooks }).click();
    await page.getByRole('button', { name: en.addEndpoint }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(en.endpointUrl).fill(url);
    await dialog.getByRole('button', { name: en.addEndpoint }).click();
    await dialog.getByText(/^whsec_/).waitFor();
    await dialog.getByRole('button', { name: en.close }).click();
    await page.getByRole('link', { name: url }).click();
    await page.getByRole('button', { name: en.sendTest }).click();
    await page.getByText(en.deliverySucceeded).waitFor();
    await assertAccessible(page, 'webhook endpoint');
    await page.getByRole('button', { name: en.redeliver }).click();
    await until('the event comes again', () => receiver.received.length === 2);
    const [first, second] = receiver.received.map(({ headers }) => headers['webhook-id']);
    assert.equal(first, second);
    await page.getByRole('link', { name: en.team }).click();
    await receiver.stop();
  });

  it('shows the audit log, the passkeys and the sessions', ONLY_LONG, async () => {
    const { page, problems, strangers } = visit;
    await page.getByRole('link', { name: en.auditLog }).click();
    await page.getByText('person.removed').waitFor();
    await assertAccessible(page, 'audit log');
    await page.getByRole('link', { name: en.account }).click();
    await page.getByText(en.thisSession).waitFor();
    await page.getByRole('button', { name: en.addPasskey }).waitFor();
    await assertAccessible(page, 'account');
    assert.deepEqual(strangers, []);
    // The browser reports refused requests: without a session, of the used link, of an account that is none, and lists
    // beyond the person's share of a slow machine, which are asked for again.
    assert.deepEqual(
      problems.filter((text) => !/status of (?:40[01]|429)/.test(text)),
      [],
    );
  });

  it('is opened by the public name of this machine', ONLY_LONG, async () => {
    const { port } = new URL(origin);
    const answer = await fetch(`http://127.0.0.1:${port}/dashboard/team?lang=de`, { redirect: 'manual' });
    assert.equal(answer.headers.get('location'), `${origin}/dashboard/team?lang=de`);
  });

  it('cannot be framed, and runs no script of others', async () => {
    const answer = await fetch(`${origin}/dashboard/payments`, { headers: { accept: 'text/html' } });
    const policy = answer.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.equal(answer.headers.get('x-frame-options'), 'DENY');
    const arabic = await fetch(`${origin}/dashboard?lang=ar`);
    assert.match(await arabic.text(), /<html lang="ar" dir="rtl">/);
  });

  describe('for work', () => deskSuite(() => ({ scene, visit })));
  describe('for the operator', () => operatorSuite(() => ({ scene })));
  describe('as people use it', () => habitsSuite(() => ({ scene, visit })));
  describe('with many merchants', () => merchantsSuite(() => ({ scene, visit })));
});
