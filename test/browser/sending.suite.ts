import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import jsQR from 'jsqr';
import type { Locator, Page } from 'playwright-core';
import { encodeFunctionData, type Hex, parseAbi, parseEther } from 'viem';
import { en } from '../../web/src/checkout/strings/en.ts';
import { ONLY_LONG } from '../long.ts';
import { assertAccessible } from './accessible.ts';
import { missingBrowser } from './chromium.ts';
import { assertSpent, type Scene, sharedScene, steps, TEN_DOLLARS, TEN_TOKENS, wordsOf } from './scene.ts';

const TOKEN = parseAbi(['function transfer(address to, uint256 value)']);

describe('sending to an address from the checkout', { skip: missingBrowser(), concurrency: 2 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await sharedScene();
  });

  const tokenOf = () => scene.assetOf('USDC').split('erc20:')[1] as Hex;
  const uriOf = (address: string, value: bigint) =>
    `ethereum:${tokenOf()}@31337/transfer?address=${address}&uint256=${value}`;

  /** An account that no page knows, such as the one of an exchange. */
  async function openExchange(funds = TEN_TOKENS) {
    const wallet = await scene.createWallet({ USDC: funds, ETH: parseEther('1') });
    const pay = (to: string, value: bigint) =>
      wallet.send({ to: tokenOf(), data: encodeFunctionData({ abi: TOKEN, args: [to as Hex, value] }) });
    return { wallet, pay };
  }

  /** Chooses the token, and returns the address that the page shows. */
  async function askForAddress(page: Page, gatewayUrl: string): Promise<string> {
    await page.goto(gatewayUrl);
    await page.getByRole('button', { name: en.sendAnywhere }).click();
    await steps.isAt(page, en.sendAnywhere);
    await page.getByRole('button', { name: /^USDC/ }).click();
    return addressOn(page);
  }

  it(
    'takes a plain transfer of another account, by the code, the address and the amount it shows',
    ONLY_LONG,
    async () => {
      const { context, page, problems, close } = await scene.visit();
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      const { wallet, pay } = await openExchange();
      const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
      const address = await askForAddress(page, gatewayUrl);
      await steps.isAt(page, /^Send exactly 10\.00\sUSDC$/);
      assert.equal(await decoded(page.getByRole('img', { name: en.transferQrLabel })), uriOf(address, TEN_TOKENS));
      await page.getByText(wordsOf(en.transferOnly)).waitFor();
      await page.getByText(en.slowExchange).waitFor();
      await assertAccessible(page, 'transfer');
      const copied: unknown[] = [];
      for (const name of [en.copyAmount, en.copyAddress]) {
        await page.getByRole('button', { name }).click();
        await page.getByRole('button', { name: en.copied }).waitFor();
        copied.push(await page.evaluate('navigator.clipboard.readText()'));
      }
      assert.deepEqual(copied, ['10', address]);
      await pay(address, TEN_TOKENS);
      await steps.isPaid(page);
      assert.equal(await scene.statusOf(paymentId), 'succeeded');
      await assertSpent(scene, wallet, 'USDC', 0n);
      assert.deepEqual(problems, []);
      await close();
    },
  );

  it('asks for the rest when a part has arrived, here and on other devices, and is paid by it', async () => {
    const { page, close } = await scene.visit();
    const device = await scene.visit();
    const { pay } = await openExchange();
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    const address = await askForAddress(page, gatewayUrl);
    await page.reload();
    assert.equal(await addressOn(page), address, 'a reload continues the transfer');
    await pay(address, 4_000_000n);
    const rest = 6_000_000n;
    for (const each of [page, device.page]) {
      if (each !== page) await each.goto(gatewayUrl);
      await each.getByText(/^4\.00\sUSDC of 10\.00\sUSDC arrived\. The rest, 6\.00\sUSDC, is missing\.$/).waitFor();
      await steps.isAt(each, /^Send exactly 6\.00\sUSDC$/);
      assert.equal(await decoded(each.getByRole('img', { name: en.transferQrLabel })), uriOf(address, rest));
    }
    await device.page.getByRole('button', { name: en.back }).click();
    await device.page.getByText(en.partArrived).waitFor();
    assert.equal(await scene.statusOf(paymentId), 'requires_action');
    await pay(address, rest);
    await steps.isPaid(page);
    await steps.isPaid(device.page);
    assert.equal(await scene.statusOf(paymentId), 'succeeded');
    await device.close();
    await close();
  });

  it('reports money that comes after the end, on the open page and once it is there', async () => {
    const { page, problems, close } = await scene.visit();
    const { pay } = await openExchange(2n * TEN_TOKENS);
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    const address = await askForAddress(page, gatewayUrl);
    await pay(address, TEN_TOKENS);
    await steps.isPaid(page);
    const more = page.getByRole('definition').getByText(/^5\.00\sUSDC$/);
    assert.equal(await more.count(), 0);
    await pay(address, 5_000_000n);
    await more.waitFor();
    await page.getByText(wordsOf(en.lateText)).waitFor();
    await page.getByRole('status').getByText(en.lateMoney).waitFor({ state: 'attached' });
    assert.equal(await scene.statusOf(paymentId), 'succeeded');
    assert.deepEqual(problems, []);
    await close();
  });

  it('lets the payer go back to the wallets while nothing has arrived', ONLY_LONG, async () => {
    const { page, close } = await scene.visit();
    const { gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await askForAddress(page, gatewayUrl);
    await page.getByRole('button', { name: en.back }).click();
    await steps.isAt(page, en.sendAnywhere);
    await assertAccessible(page, 'picking');
    await page.getByRole('button', { name: en.back }).click();
    await steps.isAt(page, en.readyTitle);
    await page.reload();
    await steps.isAt(page, en.readyTitle);
    await close();
  });
});

async function addressOn(page: Page): Promise<string> {
  const text = page.getByText(/^0x[0-9a-fA-F]{40}$/);
  return text.innerText();
}

/** The text of a QR code, read from its picture. */
async function decoded(code: Locator): Promise<string | undefined> {
  const picture = await code.screenshot({ type: 'png' });
  // An empty page has no policy that refuses the picture.
  const reader = await code.page().context().newPage();
  const source = `data:image/png;base64,${picture.toString('base64')}`;
  const { width, height, pixels } = (await reader.evaluate(`(async () => {
    const image = new Image();
    image.src = ${JSON.stringify(source)};
    await image.decode();
    const { width, height } = image;
    const brush = new OffscreenCanvas(width, height).getContext('2d');
    brush.drawImage(image, 0, 0);
    return { width, height, pixels: Array.from(brush.getImageData(0, 0, width, height).data) };
  })()`)) as { width: number; height: number; pixels: number[] };
  await reader.close();
  return jsQR.default(Uint8ClampedArray.from(pixels), width, height)?.data;
}
