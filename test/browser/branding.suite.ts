import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { en as dashboard } from '../../web/src/dashboard/strings/en.ts';
import { assertAccessible } from './accessible.ts';
import { pngLogo } from './png.ts';
import { type Scene, steps, TEN_DOLLARS, TEN_TOKENS, type Visit, wordsOf } from './scene.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
const ACCENT = { text: '#635bff', computed: 'rgb(99, 91, 255)' };

interface Branding {
  readonly accentColor: string | null;
  readonly poweredBy: boolean;
  readonly logoUrl: string | null;
}

/** The branding of the scene's merchant, by the owner who is signed in. It stays on the pages of the next suites. */
export function brandingSuite(opened: () => { readonly scene: Scene; readonly owner: Visit }): void {
  let scene: Scene;
  let page: Page;
  let form: Locator;
  let path: string;
  before(async () => {
    const { scene: own, owner } = opened();
    scene = own;
    page = owner.page;
    path = `/v1/merchants/${scene.merchantId}/branding`;
    await page.goto(new URL(`/dashboard/merchants/${scene.merchantId}`, scene.dashboardUrl).href);
    form = page.getByRole('region', { name: dashboard.branding });
  });

  const read = async () => (await scene.call<{ branding: Branding }>('GET', path)).branding;
  const groundOf = (element: Locator) => element.evaluate('(node) => getComputedStyle(node).backgroundColor');
  const save = () => form.getByRole('button', { name: dashboard.save }).click();

  it('refuses a colour with too little contrast, and offers the nearest one with enough', async () => {
    await form.getByLabel(dashboard.accentColour).fill('#ffee00');
    const refusal = form.getByRole('alert').getByText(wordsOf(dashboard.badContrastLight));
    assert.match(await refusal.innerText(), /1\.0\d:1.*3:1/);
    await assertAccessible(page, 'a colour with too little contrast');
    await save();
    await refusal.waitFor();
    assert.equal((await read()).accentColor, null);
    await form.getByRole('button', { name: wordsOf(dashboard.useColour) }).click();
    await refusal.waitFor({ state: 'detached' });
    await form.getByLabel(dashboard.accentColour).fill('</style>');
    await form.getByText(dashboard.badColour).waitFor();
    const sent = scene.call('PATCH', path, { accentColor: '#ffee00' });
    await assert.rejects(sent, /contrast/, 'the gateway refuses it as well');
  });

  it('shows the colour and the logo in both themes before they are saved', async () => {
    await form.getByLabel(dashboard.accentColour).fill(ACCENT.text.toUpperCase());
    const logo = form.getByLabel(dashboard.logo, { exact: true });
    await logo.setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(SVG) });
    await form.getByText(dashboard.badLogo).waitFor();
    await logo.setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: pngLogo([99, 91, 255]) });
    await form.getByText(dashboard.badLogo).waitFor({ state: 'detached' });
    await form.getByLabel(dashboard.showPoweredBy).uncheck();
    assert.equal(await form.locator('img.brand-logo[src^="data:image/png"]').count(), 2);
    const buttons = await form.locator('.brand-button').all();
    assert.deepEqual(await Promise.all(buttons.map(groundOf)), [ACCENT.computed, ACCENT.computed]);
    assert.equal(await form.locator('.brand-foot').first().innerText(), '');
    await assertAccessible(page, 'branding');
    await save();
    await form.getByText(dashboard.saved).waitFor();
    const { accentColor, poweredBy, logoUrl } = await read();
    assert.deepEqual([accentColor, poweredBy], [ACCENT.text, false]);
    assert.match(logoUrl ?? '', /\/logos\/[0-9a-f]{32}$/);
  });

  it('shows what somebody else has changed meanwhile', async () => {
    await scene.call('PATCH', path, { accentColor: '#e11d48' });
    await form.getByLabel(dashboard.showPoweredBy).check();
    await form.getByLabel(dashboard.showPoweredBy).uncheck();
    await save();
    await form.locator('ins').getByText('#e11d48').waitFor();
    await assertAccessible(page, 'two edits of the branding');
    await form.getByRole('button', { name: dashboard.overwrite }).click();
    await form.getByText(dashboard.saved).waitFor();
    assert.equal((await read()).accentColor, ACCENT.text);
  });

  it('is on the checkout and on payment links, within their content policy', async () => {
    const payer = await scene.visitWith({ USDC: TEN_TOKENS });
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    const isLogoShown = () => payer.page.locator('.logo img').evaluate('(image) => image.naturalWidth > 0');
    await payer.page.goto(gatewayUrl);
    await steps.connect(payer.page);
    assert.equal(await groundOf(payer.page.locator('.button-main')), ACCENT.computed);
    assert.equal(await isLogoShown(), true);
    assert.equal(await payer.page.getByRole('contentinfo').innerText(), '');
    await assertAccessible(payer.page, 'a branded checkout');
    const { paymentLink } = await scene.call<{ paymentLink: { url: string } }>('POST', '/v1/payment-links', {
      description: 'Tea',
      amount: { unit: TEN_DOLLARS[0], value: TEN_DOLLARS[1] },
    });
    await payer.page.goto(paymentLink.url);
    assert.equal(await groundOf(payer.page.locator('.button-main')), ACCENT.computed);
    assert.equal(await isLogoShown(), true);
    assert.equal(await payer.page.getByRole('contentinfo').innerText(), '');
    await assertAccessible(payer.page, 'a branded payment link');
    assert.deepEqual([payer.strangers, payer.problems], [[], []]);
    await payer.close();
  });
}
