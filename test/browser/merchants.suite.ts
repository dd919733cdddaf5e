import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { Page, Route } from 'playwright-core';
import { en } from '../../web/src/dashboard/strings/en.ts';
import { until } from '../until.ts';
import { assertAccessible } from './accessible.ts';
import type { Scene, Visit } from './scene.ts';

/** The request for the newest merchants. The gateway answers it with two, so that four merchants are more than the page has. */
const NEWEST = /\/v1\/merchants\?limit=100$/;
const askForTwo = (route: Route) => route.continue({ url: route.request().url().replace('limit=100', 'limit=2') });

/** The choice of a merchant by a partner with more merchants than one page has, for the owner who is signed in. */
export function merchantsSuite(opened: () => { readonly scene: Scene; readonly visit: Visit }): void {
  let scene: Scene;
  let visit: Visit;
  let page: Page;
  const ids: string[] = [];
  const open = (path: string) => page.goto(new URL(`/dashboard${path}`, scene.dashboardUrl).href);
  const field = () => page.getByRole('combobox', { name: en.merchant, exact: true });
  const option = (name: string) => page.getByRole('option', { name, exact: true });
  before(async () => {
    ({ scene, visit } = opened());
    page = visit.page;
    for (const merchantName of ['Corner shop', 'Kiosk one', 'Kiosk two']) {
      const order = { merchantName, merchantEmail: 'shop@shop.example' };
      ids.push((await scene.call<{ merchant: { id: string } }>('POST', '/v1/merchants', order)).merchant.id);
    }
    await page.route(NEWEST, askForTwo);
  });
  after(async () => {
    await page.unroute(NEWEST, askForTwo);
    for (const id of ids) await scene.call('DELETE', `/v1/merchants/${id}`);
  });

  it('filters payments by a merchant that a search finds, and names it after a reload', async () => {
    await open('/payments');
    await field().click();
    await option('Kiosk two').waitFor();
    await field().fill('CORNER');
    await option('Kiosk two').waitFor({ state: 'detached' });
    await assertAccessible(page, 'merchants that a search has found');
    await option('Corner shop').click();
    await page.waitForURL(new RegExp(`merchant=${ids[0]}`));
    await page.reload();
    await until('the merchant has its name', async () => (await field().inputValue()) === 'Corner shop');
    await field().click();
    await option(en.anyMerchant).click();
    await page.waitForURL((url) => !url.search.includes('merchant='));
    const nameless = visit.requests.filter((url) => url.endsWith('/v1/merchants/'));
    assert.deepEqual(nameless, [], 'the choice of all merchants is none that can be read');
  });

  it('keeps the merchant if the list is closed, or if nothing is found', async () => {
    await open('/payments');
    await field().fill('no such merchant');
    await page.getByText(en.paletteEmpty).waitFor();
    await assertAccessible(page, 'no merchant found');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    assert.equal(await field().inputValue(), en.anyMerchant);
    assert.equal(await page.getByRole('listbox').count(), 0);
  });

  it('selects the merchant of links by the keyboard', async () => {
    await open('/links');
    await field().press('ArrowDown');
    await option('Kiosk two').waitFor();
    await field().fill('corner');
    await option('Kiosk two').waitFor({ state: 'detached' });
    const asked = page.waitForRequest((request) => request.headers()['merchant-id'] === ids[0]);
    await field().press('Enter');
    await asked;
    assert.equal(await field().inputValue(), 'Corner shop');
  });

  it('is part of a form, whose dialog stays when the list is closed', async () => {
    await open('/team');
    await page.getByRole('button', { name: en.invite }).click();
    const dialog = page.getByRole('dialog');
    const box = dialog.getByRole('combobox', { name: en.belongsTo });
    await box.fill('corner');
    await option('Corner shop').waitFor();
    await box.press('Escape');
    assert.equal(await box.inputValue(), en.wholePartner);
    await box.fill('corner');
    await option('Corner shop').waitFor();
    await assertAccessible(page, 'merchants found in a dialog');
    await option('Corner shop').click();
    assert.equal(await dialog.locator('input[name=merchant]').inputValue(), ids[0]);
    await dialog.getByRole('button', { name: en.cancel }).click();
  });
}
