import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { en } from '../../web/src/checkout/strings/en.ts';
import { ONLY_LONG, onlyLongIf } from '../long.ts';
import { missingBrowser } from './chromium.ts';
import { type Scene, sharedScene, steps } from './scene.ts';

describe('a newcomer in the sandbox', { skip: missingBrowser(), concurrency: 2 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await sharedScene();
  });

  for (const [product, name] of [
    ['Morning beans', 'beans'],
    ['Stoneware mug', 'mug'],
  ] as const) {
    it(
      `buys the ${name}, pays with the wallet in the page, and sees the transaction`,
      onlyLongIf(name !== 'mug'),
      async () => {
        const { page, problems, requests, close } = await scene.visit();
        const origin = scene.baseUrl.replace('127.0.0.1', 'localhost');
        await page.goto(`${origin}/demo`);
        await page.getByRole('button', { name: `Buy ${product}` }).click();
        await steps.connect(page, en.sandboxWallet);
        await steps.pay(page);
        await page.waitForURL(`${origin}/demo/thanks**`);
        await page.getByRole('heading', { name: 'Thank you!' }).waitFor();
        await page.getByRole('link', { name: 'See the transaction' }).click();
        await page.getByRole('heading', { name: 'What happened' }).waitFor();
        const story = await page.locator('.story').first().innerText();
        assert.match(story, /^(14\.00 USDC|19\.50 EURC)\s+Paid for pay_/);
        await page.getByRole('navigation').getByRole('link', { name: 'Blocks' }).click();
        await page.getByRole('heading', { name: 'Blocks' }).waitFor();
        assert.ok((await page.locator('.blocks > li').count()) > 1);
        await page.getByRole('navigation').getByRole('link', { name: 'Events' }).click();
        await page.getByText('payment.succeeded').first().waitFor();
        assert.deepEqual(problems, []);
        assert.ok(requests.every((url) => url.startsWith(origin) || url.startsWith('data:')));
        await close();
      },
    );
  }

  it('finds the shop from any name of this machine', ONLY_LONG, async () => {
    const { page, close } = await scene.visit();
    await page.goto(`${scene.baseUrl}/demo`);
    await page.getByRole('button', { name: 'Buy Pour-over kettle' }).click();
    await steps.isAt(page, en.readyTitle);
    await close();
  });
});
