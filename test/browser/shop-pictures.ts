import type { BrowserContextOptions, Page } from 'playwright-core';
import { en } from '../../web/src/pos/strings/en.ts';
import { payWith } from '../e2e/sandbox-payer.ts';
import type { TestWallet } from '../wallet-sdk/test-wallet.ts';
import { type Scene, wordsOf } from './scene.ts';

/** Saves the present page under a name. */
export type Save = (page: Page, name: string) => Promise<void>;

/** The payment links of the pictures. */
export async function createLinks({ call }: Scene): Promise<{ readonly fixed: string; readonly open: string }> {
  const create = async (body: object) =>
    (await call<{ paymentLink: { url: string } }>('POST', '/v1/payment-links', body)).paymentLink.url;
  return {
    fixed: await create({
      description: 'Cupping course, Saturday',
      amount: { unit: 'iso4217/EUR', value: '3500' },
      stock: 12,
    }),
    open: await create({
      description: 'Tip for the kitchen',
      minimum: { unit: 'iso4217/EUR', value: '100' },
      maximum: { unit: 'iso4217/EUR', value: '10000' },
    }),
  };
}

/** A sale at the counter, from the keypad to the end. */
export async function takeSale(scene: Scene, payer: TestWallet, page: Page, save: Save): Promise<void> {
  await page.goto(new URL('/pos', scene.dashboardUrl).href);
  for (const key of ['1', '2', '5', '0']) await page.getByRole('button', { name: key, exact: true }).click();
  await page.getByRole('radio', { name: '10 %' }).check();
  await save(page, 'keypad');
  await page.getByRole('button', { name: wordsOf(en.charge) }).click();
  const url = await page.getByRole('img', { name: en.qrLabel }).getAttribute('data-url');
  await save(page, 'code');
  const [id] = /[0-9A-Z]{26}/.exec(url ?? '') ?? [];
  await payWith(scene, payer, `pay_${id}`, 'USDC');
  await page.getByRole('heading', { name: en.paidTitle }).waitFor();
  await save(page, 'paid');
}

/** Signs a device in by the link of a cashier, and returns its session. */
export async function signDeviceIn(scene: Scene, link: string): Promise<BrowserContextOptions['storageState']> {
  const { context, page } = await scene.visit();
  const { origin, hash } = new URL(link);
  await page.goto(`${origin}/pos${hash}`);
  await page.getByRole('button', { name: '7' }).waitFor();
  const storageState = await context.storageState();
  await context.close();
  return storageState;
}
