import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { Page } from 'playwright-core';
import { refundIdOf } from '../../src/domain/ids.ts';
import { SCOPES } from '../../src/domain/scope.ts';
import { en } from '../../web/src/dashboard/strings/en.ts';
import { payWith } from '../e2e/sandbox-payer.ts';
import { ONLY_LONG } from '../long.ts';
import { until } from '../until.ts';
import { assertAccessible } from './accessible.ts';
import { withAuthenticator } from './authenticator.ts';
import { answerOf } from './operator-link.ts';
import { type Scene, TEN_DOLLARS, TEN_TOKENS, type Visit } from './scene.ts';

const HOSTILE = 'K \u202e"><img src=x onerror=alert(1)>';

interface Invited {
  readonly id: string;
  readonly link: { readonly url: string };
}

interface Late {
  readonly status: string;
  readonly destination: string | null;
}

/** The pages of keys, events, refunds, payouts and merchants, for the owner who is signed in. */
export function deskSuite(opened: () => { readonly scene: Scene; readonly visit: Visit }): void {
  let scene: Scene;
  let visit: Visit;
  let origin: string;
  before(() => {
    ({ scene, visit } = opened());
    origin = new URL(scene.dashboardUrl).origin;
  });

  const at = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 }).waitFor();
  const statusWith = async (secret: string) =>
    (await fetch(`${origin}/v1/payments`, { headers: { 'api-key': secret } })).status;

  it('issue, rotate and revoke a key, whose secret works and is shown once', async () => {
    const { page } = visit;
    const dialog = page.getByRole('dialog');
    const shownSecret = async () => {
      const secret = await dialog.getByText(/^till_test_/).innerText();
      await dialog.getByRole('button', { name: en.close }).click();
      return secret;
    };
    await page.getByRole('link', { name: en.developers }).click();
    await at(page, en.developers);
    await page.getByRole('button', { name: en.addKey }).click();
    // Every scope that a key may have, with a sentence that explains it.
    const scopes = dialog.locator('label').filter({ has: page.locator('input[name=scope]') });
    assert.deepEqual(
      await scopes.allTextContents(),
      SCOPES.map((scope) => `${en[`scope ${scope}`]} ${scope}`),
    );
    await dialog.getByLabel(en.keyLabel).fill(HOSTILE);
    await dialog.getByLabel(en.keyAddresses).fill('not an address');
    await dialog.getByRole('button', { name: en.addKey }).click();
    await dialog.getByRole('alert').waitFor();
    assert.equal(await dialog.getByLabel(en.keyLabel).inputValue(), HOSTILE, 'a refusal keeps what was typed');
    await dialog.getByLabel(en.keyAddresses).fill('127.0.0.0/8, ::1');
    await assertAccessible(page, 'new key');
    await dialog.getByRole('button', { name: en.addKey }).click();
    const first = await shownSecret();
    assert.equal(await statusWith(first), 200);
    const row = page.getByRole('listitem').filter({ hasText: 'K "><img' });
    await row.getByRole('button', { name: en.rotate }).click();
    await dialog.getByLabel(en.overlap).selectOption('0');
    await dialog.getByRole('button', { name: en.rotate }).click();
    const second = await shownSecret();
    assert.notEqual(second, first);
    assert.deepEqual([await statusWith(first), await statusWith(second)], [401, 200]);
    await assertAccessible(page, 'keys');
    await row.getByRole('button', { name: en.revoke }).click();
    await dialog.getByRole('button', { name: en.revoke }).click();
    await row.waitFor({ state: 'detached' });
    assert.equal(await statusWith(second), 401);
    await page.getByLabel(en.showEnded).check();
    await row.first().getByText(en.keyRevoked).waitFor();
  });

  it('show the events and the requests of programs', ONLY_LONG, async () => {
    const { page } = visit;
    await fetch(`${origin}/v1/payments/pay_unknown`, {
      headers: { 'api-key': scene.apiKey, 'merchant-id': scene.merchantId },
    });
    await scene.createPayment(...TEN_DOLLARS, { referenceId: 'EVENT-1' });
    await page.getByRole('link', { name: en.events }).click();
    // Other payments have such an event, too, and the list grows while it is shown.
    const event = page.locator('details').filter({ hasText: '"EVENT-1"' });
    await event.locator('summary').click();
    await event.locator('pre').waitFor();
    await assertAccessible(page, 'events');
    await page.getByRole('link', { name: en.requests }).click();
    await page.getByLabel(en.onlyErrors).check();
    await page.getByText('payment_not_found').waitFor();
    await assertAccessible(page, 'requests');
  });

  it('go on beyond empty pages of events, until the feed says that the past is over', async () => {
    const { page } = visit;
    await scene.createPayment(...TEN_DOLLARS, { referenceId: 'EVENT-2' });
    // A page is empty if the feed has searched as many events as it may, and none of them is to be shown.
    const next = new Map([
      ['latest', 'one'],
      ['one', 'two'],
    ]);
    await page.route(/\/v1\/events\?/, async (route) => {
      const before = new URL(route.request().url()).searchParams.get('before') ?? '';
      const nextCursor = next.get(before);
      if (nextCursor !== undefined) return route.fulfill({ json: { events: [], nextCursor, hasMore: true } });
      const feed = await scene.call<object>('GET', '/v1/events?before=latest');
      await route.fulfill({ json: { ...feed, hasMore: false } });
    });
    await page.goto(`${origin}/dashboard/developers/events`);
    const more = page.getByRole('button', { name: en.more });
    const found = page.locator('details').filter({ hasText: '"EVENT-2"' }).first();
    for (const cursor of ['one', 'two']) {
      await more.waitFor();
      assert.deepEqual([await page.getByText(en.noEvents).count(), await found.count()], [0, 0]);
      const asked = page.waitForRequest((request) => request.url().includes(`before=${cursor}`));
      await more.click();
      await asked;
    }
    await found.waitFor();
    await more.waitFor({ state: 'detached' });
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  it('show a refund and its payment', ONLY_LONG, async () => {
    const { page } = visit;
    const { paymentId } = await scene.createPayment('iso4217/USD', '1200', { referenceId: 'REFUND-1' });
    await payWith(scene, await scene.createWallet({ USDC: 2n * TEN_TOKENS }), paymentId, 'USDC');
    await page.getByRole('link', { name: en.refunds }).click();
    await at(page, en.refunds);
    await scene.call('POST', '/v1/refunds', { paymentId });
    await page.getByRole('listitem').filter({ hasText: '$12.00' }).getByText(en.statusRefunded).waitFor();
    await assertAccessible(page, 'refunds');
    await page.getByRole('link', { name: en.payouts }).click();
    await page.getByText(en.noPayouts).waitFor();
    await assertAccessible(page, 'payouts');
  });

  it(
    'show a vetoed refund as stopped and a failed one as failed, and let a vetoed one be made again',
    ONLY_LONG,
    async () => {
      const { page } = visit;
      const { address } = await scene.createWallet({});
      // The merchant has no float and its account has not signed, so the refund waits.
      const { id: merchantId } = await scene.createMerchant(scene.assetOf('USDC'), `eip155:31337:${address}`);
      const { paymentId } = await scene.createPayment(...TEN_DOLLARS, {}, merchantId);
      await payWith(scene, await scene.createWallet({ USDC: TEN_TOKENS }), paymentId, 'USDC');
      const refundId = refundIdOf(paymentId, 1);
      await scene.call('POST', '/v1/refunds', { paymentId }, merchantId);
      const refund = () => scene.call<{ status: string }>('GET', `/v1/refunds/${refundId}`, undefined, merchantId);
      await until('it waits', async () => (await refund()).status === 'awaiting_funds', { withinMs: 60_000 });
      await answerOf(scene, ['refunds', 'veto', refundId, '--reason', 'requested by mistake']);
      assert.equal((await refund()).status, 'failed', 'as the API has it');

      await page.goto(`${origin}/dashboard/refunds`);
      const row = page.getByRole('listitem').filter({ has: page.locator(`a[href$="/${paymentId}"]`) });
      await row.getByText(en.refundVetoed, { exact: true }).waitFor();
      await row.getByText(en.problemVetoed).waitFor();
      assert.doesNotMatch(await row.innerText(), /fail/i);
      await assertAccessible(page, 'vetoed refund');
      await row.getByRole('link').first().click();
      const title = page.getByRole('heading', { level: 1 });
      await title.getByText(en.statusSucceeded).waitFor();
      const refunds = page.getByRole('region', { name: en.refunds });
      await refunds.getByText(en.refundVetoed, { exact: true }).waitFor();
      assert.doesNotMatch(await refunds.innerText(), /fail/i);
      await page.getByRole('button', { name: en.refund, exact: true }).click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Refund \$10\.00$/ })
        .waitFor();
      await page.getByRole('dialog').getByRole('button', { name: en.cancel }).click();

      await page.route('**/v1/refunds?*', async (route) => {
        const response = await route.fetch({
          headers: { ...route.request().headers(), 'sec-fetch-site': 'same-origin' },
        });
        const body = await response.text();
        await route.fulfill({ response, body: body.replaceAll('"vetoed"', '"recipient_blacklisted"') });
      });
      await page.goto(`${origin}/dashboard/refunds`);
      await row.getByText(en.statusRefundFailed, { exact: true }).waitFor();
      await row.getByText(en.problemBlacklisted).waitFor();
      assert.equal(await row.getByText(en.refundVetoed, { exact: true }).count(), 0);
      await page.unrouteAll();
    },
  );

  it('give late money back to an account that the payer has named', ONLY_LONG, async () => {
    const { page } = visit;
    const dialog = page.getByRole('dialog');
    const order = { referenceId: 'TWICE-1', metadata: { sandbox: 'double' } };
    const { paymentId } = await scene.createPayment(...TEN_DOLLARS, order);
    await payWith(scene, await scene.createWallet({ USDC: TEN_TOKENS }), paymentId, 'USDC');
    // Not by the list: on a busy machine its time is soon used up.
    const late = async () => (await scene.call<{ lateMoney: Late[] }>('GET', `/v1/payments/${paymentId}`)).lateMoney;
    await until('the money is named', async () => (await late()).length === 1, { withinMs: 60_000 });
    await page.goto(`${origin}/dashboard`);
    await page.getByRole('link', { name: new RegExp(`^${en.lateWaiting.replace('{count}', '\\d+')}$`) }).click();
    await at(page, en.lateMoney);
    await assertAccessible(page, 'list of late money');
    await page.locator(`main a[href$="/${paymentId}"]`).click();
    await page.getByRole('heading', { name: en.lateMoney }).waitFor();
    await page.getByText(/ETH on Till Sandbox: the payment was paid already/).waitFor();
    await page.getByRole('button', { name: en.giveBack }).click();
    const account = dialog.getByLabel(en.giveBackAccount.replace('{network}', 'Till Sandbox'));
    await account.fill('somewhere');
    await dialog.getByRole('button', { name: en.giveBack, exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    const { address } = await scene.createWallet({});
    await account.fill(address);
    await assertAccessible(page, 'late money');
    await dialog.getByRole('button', { name: en.giveBack, exact: true }).click();
    await page.getByText(en.lateReturned, { exact: true }).waitFor({ timeout: 60_000 });
    const [money] = await late();
    assert.deepEqual([money?.status, money?.destination], ['returned', `eip155:31337:${address}`]);
  });

  it(
    'show an edit that somebody else made first, suspend a merchant, and add its first destination',
    ONLY_LONG,
    async () => {
      const { page } = visit;
      const dialog = page.getByRole('dialog');
      const { merchant } = await scene.call<{ merchant: { id: string } }>('POST', '/v1/merchants', {
        merchantName: 'Kiosk',
        merchantEmail: 'kiosk@shop.example',
      });
      await page.goto(`${origin}/dashboard/merchants/${merchant.id}`);
      await page.getByRole('button', { name: en.addDestination }).click();
      await dialog.getByLabel(en.accountAddress).fill(`0x${'ab'.repeat(20)}`);
      await dialog.getByText(en.noChecksum).waitFor();
      await dialog.getByRole('button', { name: en.addDestination }).click();
      await page
        .getByText(/0x[aA][bB]/)
        .first()
        .waitFor();
      await page.getByRole('button', { name: en.edit }).click();
      await dialog.getByLabel(en.name).fill('Kiosk of one');
      await scene.call('PATCH', `/v1/merchants/${merchant.id}`, { merchantName: 'Kiosk of another' });
      await dialog.getByRole('button', { name: en.save }).click();
      await dialog.locator('ins').getByText('Kiosk of another').waitFor();
      assert.equal(await dialog.getByLabel(en.name).inputValue(), 'Kiosk of one');
      await assertAccessible(page, 'two edits');
      await dialog.getByRole('button', { name: en.overwrite }).click();
      await at(page, `Kiosk of one ${en.merchantActive}`);
      await page.getByRole('button', { name: en.suspend }).click();
      await dialog.getByRole('button', { name: en.suspend }).click();
      await at(page, `Kiosk of one ${en.merchantSuspended}`);
      await page.getByText(en.suspendedText).waitFor();
      await assertAccessible(page, 'suspended merchant');
    },
  );

  it('tell support the limit of its refunds, and who raises it, before it refunds', async () => {
    const who = ['--name', 'Lima Limited', '--email', 'lima@shop.example', '--role', 'support'];
    const limit = ['--refund-limit', 'iso4217/USD=600'];
    const invited = await answerOf<Invited>(scene, [
      ...['people', 'invite', '--merchant', scene.merchantId],
      ...who,
      ...limit,
    ]);
    const wallet = await scene.createWallet({ USDC: TEN_TOKENS, EURC: TEN_TOKENS });
    const dollars = await scene.createPayment(...TEN_DOLLARS);
    await payWith(scene, wallet, dollars.paymentId, 'USDC');
    const euros = await scene.createPayment('iso4217/EUR', '1000');
    await payWith(scene, wallet, euros.paymentId, 'EURC');
    const other = await scene.visit();
    await withAuthenticator(other.context, other.page);
    const { page } = other;
    await page.goto(invited.link.url);
    await page.getByRole('button', { name: en.later }).click();
    await at(page, en.home);
    const dialog = page.getByRole('dialog');
    const open = async (paymentId: string) => {
      await page.goto(`${origin}/dashboard/payments/${scene.merchantId}/${paymentId}`);
      await page.getByRole('button', { name: en.refund, exact: true }).click();
    };
    const limitText = (amount: string) => dialog.getByText(en.refundLimited.replace('{amount}', amount));
    await open(dollars.paymentId);
    await limitText('$6.00').waitFor();
    const amount = dialog.getByLabel(/^Amount, at most \$6\.00$/);
    assert.equal(await amount.inputValue(), '6.00');
    await amount.fill('6.01');
    assert.ok(await dialog.getByRole('button', { name: en.refund, exact: true }).isDisabled());
    await amount.fill('4');
    await assertAccessible(page, 'limited refund');
    await dialog.getByRole('button', { name: /^Refund \$4\.00$/ }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: en.refund, exact: true }).click();
    await dialog.getByLabel(/^Amount, at most \$2\.00$/).waitFor();
    await dialog.getByRole('button', { name: en.cancel }).click();
    await answerOf(scene, ['people', 'set', invited.id, '--role', 'support', '--refund-limit', 'iso4217/USD=700']);
    // The gateway knows a person for five seconds.
    await until('the next dialog has the raised limit', async () => {
      await page.getByRole('button', { name: en.refund, exact: true }).click();
      const raised = limitText('$7.00').waitFor({ timeout: 2_000 });
      if (await raised.then(() => true).catch(() => false)) return true;
      await dialog.getByRole('button', { name: en.cancel }).click();
      return false;
    });
    await open(euros.paymentId);
    await dialog.getByText(en.refundNotAllowed.replace('{currency}', 'EUR')).waitFor();
    assert.equal(await dialog.getByRole('textbox').count(), 0);
    await assertAccessible(page, 'refund that is not allowed');
    await dialog.getByRole('button', { name: en.close }).click();
    await other.close();
  });

  it('change the role of a person, whose limits of refunds stay in every currency, to the cent', async () => {
    const { page } = visit;
    const [cents, yen] = ['iso4217/USD=10050', 'iso4217/JPY=5000'];
    const who = ['--name', 'Yuki Yen', '--email', 'yuki@shop.example', '--role', 'support'];
    const limits = ['--refund-limit', cents, '--refund-limit', yen];
    await answerOf(scene, ['people', 'invite', '--merchant', scene.merchantId, ...who, ...limits]);
    const dialog = page.getByRole('dialog');
    const fieldOf = (currency: string) => dialog.getByLabel(en.refundLimit.replace('{currency}', currency));
    const isShown = async () => {
      await page.goto(`${origin}/dashboard/team`);
      const person = page.getByRole('listitem').filter({ hasText: 'Yuki Yen' });
      await person.getByRole('button', { name: en.changeRole }).click();
      await dialog.getByText(en.limitsKept.replace('{units}', 'JPY')).waitFor();
      assert.deepEqual([await fieldOf('USD').inputValue(), await fieldOf('EUR').inputValue()], ['100.50', '']);
    };
    await isShown();
    await dialog.getByRole('button', { name: en.save }).click();
    await dialog.waitFor({ state: 'detached' });
    await isShown();
    await dialog.getByRole('button', { name: en.cancel }).click();
  });

  it('show a destination that somebody else has changed meanwhile', async () => {
    const { page } = visit;
    const [first, second, third] = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`);
    const { merchant } = await scene.call<{ merchant: { id: string } }>('POST', '/v1/merchants', {
      merchantName: 'Two accounts',
      merchantEmail: 'two@shop.example',
    });
    const path = `/v1/merchants/${merchant.id}/settlements/crypto`;
    const settlements = [{ asset: scene.assetOf('USDC'), destination: `eip155:31337:${first}` }];
    const made = await scene.call<{ settlements: { id: string }[] }>('POST', path, { settlements });
    await page.goto(`${origin}/dashboard/merchants/${merchant.id}`);
    await page.getByRole('button', { name: en.change, exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/eip155:31337/).fill(String(second));
    const other = { destination: `eip155:31337:${third}` };
    await scene.call('PUT', `${path}/${made.settlements[0]?.id}`, other);
    await dialog.getByRole('button', { name: en.save }).click();
    await dialog.locator('ins').getByText(other.destination).waitFor();
    await assertAccessible(page, 'two changes of a destination');
    await dialog.getByRole('button', { name: en.overwrite }).click();
    await page.getByText(`eip155:31337:${second}`).waitFor();
    await scene.call('DELETE', `/v1/merchants/${merchant.id}`);
  });

  it('show the limit of refunds that somebody else has lowered meanwhile, before it is raised again', async () => {
    const { page } = visit;
    const who = ['--name', 'Lee Limit', '--email', 'lee@shop.example', '--role', 'support'];
    const limit = ['--refund-limit', 'iso4217/USD=10000'];
    const invited = ['people', 'invite', '--merchant', scene.merchantId, ...who, ...limit];
    const { id } = await answerOf<{ id: string }>(scene, invited);
    await page.goto(`${origin}/dashboard/team`);
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Lee Limit' })
      .getByRole('button', { name: en.changeRole })
      .click();
    const dialog = page.getByRole('dialog');
    const lowered = ['people', 'set', id, '--role', 'support', '--refund-limit', 'iso4217/USD=500'];
    await answerOf(scene, lowered);
    // The browser reloads the list behind the dialog when the person comes back to its window.
    const reloaded = page.waitForResponse(/\/v1\/people\?/);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
    await reloaded;
    await dialog.getByRole('button', { name: en.save }).click();
    await dialog.locator('ins').getByText('5', { exact: true }).waitFor();
    await assertAccessible(page, 'two edits of a person');
    await dialog.getByRole('button', { name: en.overwrite }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('are reached by the keyboard alone', ONLY_LONG, async () => {
    const { page } = visit;
    for (const [keys, title] of [
      ['gr', en.refunds],
      ['go', en.payouts],
      ['gd', en.developers],
    ] as const) {
      for (const key of keys) await page.keyboard.press(key);
      await at(page, title);
    }
    await page.keyboard.press('?');
    await page.keyboard.type(en.auditLog);
    await page.keyboard.press('Enter');
    await at(page, en.team);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('notice a new version of the dashboard', ONLY_LONG, async () => {
    const { page } = visit;
    await page.route(`${origin}/dashboard`, (route) =>
      route.request().method() === 'HEAD'
        ? route.fulfill({ status: 200, headers: { 'till-build': 'another' } })
        : route.continue(),
    );
    await page.reload();
    await page.getByText(en.newVersion).waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: en.loadAgain }).click();
    await page.getByText(en.newVersion).waitFor({ state: 'detached' });
  });

  it('show the events of a payment with their whole names beside the timeline', async () => {
    const { page } = visit;
    const { paymentId } = await scene.createPayment(...TEN_DOLLARS);
    await scene.call('POST', `/v1/payments/${paymentId}/cancel`);
    const path = `/v1/payments/${paymentId}/webhook-deliveries`;
    const isThere = async () => {
      const { deliveries } = await scene.call<{ deliveries: { eventType: string }[] }>('GET', path);
      return deliveries.some(({ eventType }) => eventType === 'payment.cancelled');
    };
    await until('the delivery is there', isThere, { withinMs: 60_000 });
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.goto(`${origin}/dashboard/payments/${scene.merchantId}/${paymentId}`);
    const name = page.getByRole('link', { name: 'payment.cancelled', exact: true }).first();
    await name.waitFor();
    const cell = await name.locator('..').elementHandle();
    const missing = await page.evaluate(
      ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
      cell as unknown as { scrollWidth: number; clientWidth: number },
    );
    assert.ok(missing <= 0, `${missing} px of the name are cut`);
  });

  it('fit every width, in both directions of writing', ONLY_LONG, async () => {
    const { page } = visit;
    for (const width of [390, 820, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of ['developers', 'refunds', 'payouts', 'developers/events', 'developers/requests']) {
        await page.goto(`${origin}/dashboard/${path}?lang=ar`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        );
        assert.ok(Number(overflow) <= 0, `${path} at ${width}: ${overflow} px too wide`);
      }
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    assert.deepEqual(visit.strangers, []);
  });
}
