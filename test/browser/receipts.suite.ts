import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { en as checkout } from '../../web/src/checkout/strings/en.ts';
import { ar } from '../../web/src/receipts/strings/ar.ts';
import { en } from '../../web/src/receipts/strings/en.ts';
import { ONLY_LONG } from '../long.ts';
import { missingPoppler, textOf } from '../poppler.ts';
import { assertAccessible } from './accessible.ts';
import { missingBrowser } from './chromium.ts';
import { payWith, type Scene, sharedScene, steps, TEN_DOLLARS, TEN_TOKENS } from './scene.ts';

const ORDER = {
  description: 'Table 14',
  lineItems: [
    { name: 'Two coffees', quantity: 2, amount: { unit: 'iso4217/USD', value: '900' } },
    { name: 'Tip', amount: { unit: 'iso4217/USD', value: '100' } },
  ],
};
/** The printable width of an 80 mm roll, in CSS pixels. */
const ROLL_WIDTH = Math.floor((72 * 96) / 25.4);

describe('the receipt of a checkout', { skip: missingBrowser() }, () => {
  let scene: Scene;
  before(async () => {
    scene = await sharedScene();
  });

  it('is linked from the paid view, reads without a script, and says the same on paper', async () => {
    const { page, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS, ORDER);
    await payWith(page, gatewayUrl, 'USDC');
    await steps.isAt(page, checkout.paidTitle);
    const href = (await page.getByRole('link', { name: checkout.openReceipt }).getAttribute('href')) ?? '';
    assert.match(href, new RegExp(`/c/${paymentId.slice(4)}/[\\w-]{22}/receipt$`));
    await close();

    const visit = await scene.visit({ javaScriptEnabled: false });
    const { page: slip } = visit;
    await slip.goto(href);
    const text = await slip.locator('article').innerText();
    const facts = [
      'Demo shop',
      paymentId.slice(4),
      'Table 14',
      '2 × ',
      'Two coffees',
      '$9.00',
      'Tip',
      '$1.00',
      '$10.00',
      'USDC',
    ];
    for (const fact of facts) assert.ok(text.includes(fact), `${fact} is not in ${text}`);
    const [transaction = ''] = /0x[0-9a-f]{64}/.exec(text) ?? [];
    assert.notEqual(transaction, '');

    // Commands can be copied from a screen and typed from a sheet. On a roll they would only make it longer.
    const commands = slip.getByText('node verify-receipt.mjs');
    assert.equal(await commands.isVisible(), true, 'on a screen');
    await slip.emulateMedia({ media: 'print' });
    for (const [width, isShown] of [
      [700, true],
      [ROLL_WIDTH, false],
    ] as const) {
      await slip.setViewportSize({ width, height: 800 });
      assert.equal(await commands.isVisible(), isShown, `printed ${width} px wide`);
      assert.equal(await slip.getByText(transaction).first().isVisible(), true, `printed ${width} px wide`);
    }
    await slip.emulateMedia({ media: 'screen' });

    for (const [size, name] of [
      ['a4', en.a4],
      ['letter', en.letter],
      ['roll', en.roll],
    ] as const) {
      const link = (await slip.getByRole('link', { name: en.pdf.replace('{size}', name) }).getAttribute('href')) ?? '';
      assert.match(link, new RegExp(`size=${size}`));
      const answer = await visit.context.request.get(link);
      assert.equal(answer.headers()['content-type'], 'application/pdf');
      if (missingPoppler()) continue;
      // A roll breaks long words.
      const joined = textOf(await answer.body()).replace(/\s+/g, '');
      for (const fact of [...facts, transaction]) {
        assert.ok(joined.includes(fact.replace(/\s+/g, '')), `${fact} is not in ${joined}`);
      }
    }
    await visit.close();
  });

  it('has no barrier in either theme, fits a roll, and is read from right to left in Arabic', ONLY_LONG, async () => {
    const { page, close, context } = await scene.visitWith({ USDC: TEN_TOKENS });
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS, ORDER);
    await payWith(page, gatewayUrl, 'USDC');
    await steps.isAt(page, checkout.paidTitle);
    const href = await page.getByRole('link', { name: checkout.openReceipt }).getAttribute('href');
    const slip = await context.newPage();
    for (const [lang, title] of [
      ['en', en.title],
      ['ar', ar.title],
    ] as const) {
      await slip.goto(`${href}?lang=${lang}`);
      await slip.getByRole('heading', { name: title, level: 1 }).waitFor();
      assert.equal(await slip.locator('html').getAttribute('dir'), lang === 'ar' ? 'rtl' : 'ltr');
      await assertAccessible(slip, `the receipt in ${lang}`);
      await slip.emulateMedia({ media: 'print' });
      for (const width of [ROLL_WIDTH, 700]) {
        await slip.setViewportSize({ width, height: 800 });
        const isWide = await slip.evaluate('document.documentElement.scrollWidth > innerWidth');
        assert.equal(isWide, false, `${lang} at ${width}`);
      }
      assert.equal(await slip.getByRole('navigation').isVisible(), false, 'links to files are not printed');
      await slip.emulateMedia({ media: 'screen' });
    }
    await close();
  });
});
