import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { en } from '../../web/src/checkout/strings/en.ts';
import { en as dashboard } from '../../web/src/dashboard/strings/en.ts';
import { assertAccessible } from './accessible.ts';
import { type Scene, steps, TEN_DOLLARS, TEN_TOKENS, type Visit } from './scene.ts';

/** The accepted assets of the scene's merchant, by the owner who is signed in. The suite lifts the limit at its end. */
export function acceptedSuite(opened: () => { readonly scene: Scene; readonly owner: Visit }): void {
  let scene: Scene;
  let page: Page;
  let usdc: string;
  before(() => {
    const { scene: own, owner } = opened();
    scene = own;
    page = owner.page;
    usdc = scene.assetOf('USDC');
  });
  after(async () => {
    await scene.call('PATCH', `/v1/merchants/${scene.merchantId}`, { acceptedAssets: null });
    await scene.call('PUT', '/v1/accepted-assets', { acceptedAssets: null });
  });

  const read = async () => {
    const path = `/v1/merchants/${scene.merchantId}`;
    return (await scene.call<{ merchant: { acceptedAssets: unknown } }>('GET', path)).merchant.acceptedAssets;
  };
  const open = (path: string) => page.goto(new URL(`/dashboard${path}`, scene.dashboardUrl).href);
  const switchOf = (form: Locator, name: string) => form.getByRole('switch', { name, exact: true });
  const save = async (form: Locator) => {
    await form.getByRole('button', { name: dashboard.save }).click();
    await form.getByText(dashboard.saved).waitFor();
  };

  it('switches everything off but USDC, and says the consequence', async () => {
    await open(`/merchants/${scene.merchantId}`);
    const form = page.getByRole('region', { name: dashboard.acceptedAssets });
    await form.getByText(dashboard.acceptedEverything).waitFor();
    await form.getByLabel(dashboard.acceptsSome).check();
    for (const symbol of ['ETH', 'EURC', 'USDT']) await switchOf(form, symbol).uncheck();
    await form.getByText(dashboard.acceptedOnly.replace('{assets}', 'USDC (Till Sandbox)')).waitFor();
    await assertAccessible(page, 'accepted assets of a merchant');
    await switchOf(form, 'USDC').uncheck();
    await form.getByText(dashboard.acceptedNothing).waitFor();
    assert.ok(await form.getByRole('button', { name: dashboard.save }).isDisabled());
    await switchOf(form, 'USDC').check();
    await save(form);
    assert.deepEqual(await read(), [usdc]);
  });

  it('shows a payer of a USDC-only shop USDC alone, who holds every token', async () => {
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    const holdings = { USDC: TEN_TOKENS, EURC: TEN_TOKENS, USDT: TEN_TOKENS, ETH: 10n ** 18n };
    const payer = await scene.visitWith(holdings);
    await payer.page.goto(gatewayUrl);
    await payer.page.getByRole('button', { name: en.sendAnywhere }).click();
    await steps.isAt(payer.page, en.sendAnywhere);
    assert.deepEqual(await symbolsOn(payer.page.getByRole('button')), ['USDC']);
    await payer.page.goto(gatewayUrl);
    await steps.connect(payer.page);
    assert.deepEqual(await symbolsOn(payer.page.getByRole('radio').locator('..')), ['USDC']);
    await assertAccessible(payer.page, 'the checkout of a USDC-only shop');
    await steps.choose(payer.page, 'USDC');
    await steps.pay(payer.page);
    await steps.isPaid(payer.page);
    await payer.close();
  });

  it('limits all merchants, and leaves a merchant no switch outside of it', async () => {
    await open('/merchants');
    await page.getByRole('link', { name: dashboard.acceptedAssets }).click();
    const all = page.getByRole('region', { name: dashboard.acceptedAssets });
    await all.getByLabel(dashboard.acceptsSome).check();
    await switchOf(all, 'ETH').uncheck();
    await assertAccessible(page, 'accepted assets of all merchants');
    await save(all);
    const { acceptedAssets: limit } = await scene.call<{ acceptedAssets: string[] }>('GET', '/v1/accepted-assets');
    await scene.call('PUT', '/v1/accepted-assets', { acceptedAssets: null });
    await all.getByRole('button', { name: dashboard.save }).click();
    await all.locator('ins').getByText(dashboard.acceptsAll).waitFor();
    await assertAccessible(page, 'two edits of the accepted assets');
    await all.getByRole('button', { name: dashboard.overwrite }).click();
    await all.getByText(dashboard.saved).waitFor();
    assert.deepEqual(await scene.call('GET', '/v1/accepted-assets'), { acceptedAssets: limit });
    await open(`/merchants/${scene.merchantId}`);
    const own = page.getByRole('region', { name: dashboard.acceptedAssets });
    const coin = own.getByRole('switch', { name: /^ETH/ });
    await coin.waitFor();
    assert.ok(await coin.isDisabled());
    await own.getByText(dashboard.notAccepted).waitFor();
  });

  it('is chosen for a link, within the list of the merchant', async () => {
    await open('/links');
    await page.getByRole('button', { name: dashboard.addLink }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(dashboard.acceptedAssets, { exact: true }).click();
    await dialog.getByLabel(dashboard.acceptsSome).check();
    assert.ok(await dialog.getByRole('switch', { name: /^EURC/ }).isDisabled());
    await dialog.getByText(dashboard.acceptedOnly.replace('{assets}', 'USDC (Till Sandbox)')).waitFor();
    await assertAccessible(page, 'a link with accepted assets');
    await dialog.getByLabel(dashboard.linkFor).fill('USDC only');
    await dialog.getByLabel(dashboard.amount).fill('10');
    await dialog.getByRole('button', { name: dashboard.addLink }).click();
    await dialog.getByRole('img', { name: dashboard.qrOfLink }).waitFor();
    await dialog.getByRole('button', { name: dashboard.close }).click();
    const path = '/v1/payment-links?limit=1';
    const { paymentLinks } = await scene.call<{ paymentLinks: { acceptedAssets: unknown }[] }>('GET', path);
    assert.deepEqual(paymentLinks[0]?.acceptedAssets, [usdc]);
  });
}

/** The symbols of tokens among the texts. */
async function symbolsOn(elements: Locator): Promise<string[]> {
  const texts = await elements.allInnerTexts();
  return texts.flatMap((text) => /\b(?:USDC|EURC|USDT|ETH)\b/.exec(text)?.[0] ?? []);
}
