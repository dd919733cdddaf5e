import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { parseEther } from 'viem';
import { en } from '../../web/src/checkout/strings/en.ts';
import { qrShape } from '../../web/src/shared/qr.ts';
import { ONLY_LONG } from '../long.ts';
import { missingBrowser } from './chromium.ts';
import { injectWallet, REJECTED } from './injected-wallet.ts';
import { assertSpent, payWith, type Scene, SHOP, sharedScene, steps, TEN_DOLLARS, TEN_TOKENS } from './scene.ts';

describe('paying on the checkout', { skip: missingBrowser(), concurrency: 2 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await sharedScene();
  });

  it('takes one signature and no gas with a token that knows authorizations', async () => {
    const { page, wallet, injected, problems, close } = await scene.visitWith({ USDC: TEN_TOKENS + 5n });
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await payWith(page, gatewayUrl, 'USDC');
    await steps.isPaid(page);
    await page.getByText(en.paidFrom, { exact: true }).waitFor();
    assert.deepEqual(injected.prompts(), ['eth_signTypedData_v4']);
    assert.equal(await scene.statusOf(paymentId), 'succeeded');
    await assertSpent(scene, wallet, 'USDC', 5n);
    assert.deepEqual(problems, []);
    await close();
  });

  it('works by the plain link, which the page gives to other devices as code, link and app links', async () => {
    const { page, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    const plain = new URL(`/c/${paymentId.slice(4)}`, gatewayUrl).href;
    await page.goto(gatewayUrl);
    await page.getByRole('button', { name: en.phoneWallet }).click();
    await page.getByRole('img', { name: en.qrLabel }).waitFor();
    assert.equal(await page.locator('.qr-code path').getAttribute('d'), qrShape(plain).path);
    const links = page.locator('#phone-panel a');
    const hrefs = await links.evaluateAll((found) => found.map((link) => link.getAttribute('href') ?? ''));
    assert.ok(hrefs.length > 1 && hrefs.includes(plain));
    for (const href of hrefs) {
      assert.ok(href.includes(paymentId.slice(4)), href);
      assert.doesNotMatch(href, /pay(\.|=|_|%2e|%3d|%5f)/i);
    }
    await payWith(page, plain, 'USDC');
    await steps.isPaid(page);
    assert.equal(await scene.statusOf(paymentId), 'succeeded');
    await close();
  });

  it('explains the one-time set-up of a token that needs it, and never again', async () => {
    const { page, wallet, injected, close } = await scene.visitWith({ USDT: 2n * TEN_TOKENS, ETH: parseEther('1') });
    await payWith(page, (await scene.createPayment(...TEN_DOLLARS)).gatewayUrl, 'USDT');
    await steps.isAt(page, en.setupTitle);
    await page.getByText(/Network fee: about/).waitFor();
    await page.getByRole('button', { name: en.setupContinue }).click();
    await steps.isPaid(page);
    assert.deepEqual(injected.prompts(), ['eth_sendTransaction', 'eth_signTypedData_v4']);
    injected.calls.length = 0;
    await payWith(page, (await scene.createPayment(...TEN_DOLLARS)).gatewayUrl, 'USDT');
    await steps.isPaid(page);
    assert.deepEqual(injected.prompts(), ['eth_signTypedData_v4']);
    await assertSpent(scene, wallet, 'USDT', 0n);
    await close();
  });

  it("takes the chain's own coin by a transaction of the payer", async () => {
    const { page, injected, close } = await scene.visitWith({ ETH: parseEther('1') });
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await payWith(page, gatewayUrl, 'ETH');
    await steps.isPaid(page);
    assert.deepEqual(injected.prompts(), ['eth_sendTransaction']);
    assert.equal(await scene.statusOf(paymentId), 'succeeded');
    await close();
  });

  it('pays with the wallet that was chosen of two', ONLY_LONG, async () => {
    const { context, page, injected, close } = await scene.visitWith(
      { USDC: TEN_TOKENS },
      { wallet: { name: 'First' } },
    );
    const second = await scene.createWallet({ USDC: TEN_TOKENS });
    const other = await injectWallet(context, second, { name: 'Second' });
    await page.goto((await scene.createPayment(...TEN_DOLLARS)).gatewayUrl);
    await page.getByRole('button', { name: 'First' }).waitFor();
    await steps.connect(page, 'Second');
    await steps.pay(page);
    await steps.isPaid(page);
    assert.deepEqual(injected.calls, []);
    assert.deepEqual(other.prompts(), ['eth_signTypedData_v4']);
    await assertSpent(scene, second, 'USDC', 0n);
    await close();
  });

  it('can be declined in the wallet, and then done all the same', ONLY_LONG, async () => {
    const { page, injected, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    injected.setWhim(({ method }) => (method === 'eth_signTypedData_v4' ? REJECTED : undefined));
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await payWith(page, gatewayUrl, 'USDC');
    await page.getByText(en.rejected).first().waitFor();
    assert.equal(await scene.statusOf(paymentId), 'requires_action');
    injected.setWhim(() => undefined);
    await steps.pay(page);
    await steps.isPaid(page);
    await close();
  });

  it('says so when the account holds too little, and lists the accepted tokens and networks', async () => {
    const { context, page, close } = await scene.visitWith({ USDC: 5n });
    const accepted = ['Base', 'Polygon'].map((networkName) => ({ symbol: 'EURC', networkName }));
    await context.route(/\/options\?/, async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      await route.fulfill({ response, json: { ...body, info: { ...body.info, accepted } } });
    });
    await page.goto((await scene.createPayment(...TEN_DOLLARS)).gatewayUrl);
    await page.getByRole('button', { name: 'Test Wallet' }).click();
    await steps.isAt(page, en.noFundsTitle);
    const list = page.getByRole('region', { name: en.acceptedTitle });
    assert.match(await list.innerText(), /EURC\s+Base · Polygon/);
    await close();
  });

  it('shows the exchange rate and its source, and charges exactly the amount shown', async () => {
    const { page, wallet, close } = await scene.visitWith({ EURC: 9_100_000n });
    await page.goto((await scene.createPayment(...TEN_DOLLARS)).gatewayUrl);
    await steps.connect(page);
    await page.getByText('1 EUR = $1.10. Rate from sandbox table.').waitFor();
    await page.getByRole('button', { name: 'Pay 9.10 EURC' }).click();
    await steps.isPaid(page);
    await assertSpent(scene, wallet, 'EURC', 0n);
    await close();
  });

  it('lets the payer copy the full transaction id', ONLY_LONG, async () => {
    const { context, page, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
    await payWith(page, gatewayUrl, 'USDC');
    await steps.isPaid(page);
    await page.getByRole('button', { name: en.copyTransaction }).click();
    await page.getByRole('button', { name: en.copied }).waitFor();
    const { info } = await scene.call<{ info: { txId: string } }>('GET', `/v1/payments/${paymentId}`);
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), info.txId);
    await close();
  });

  it('switches the wallet to the right network first', ONLY_LONG, async () => {
    const { page, injected, close } = await scene.visitWith({ USDC: TEN_TOKENS }, { wallet: { chainId: '0x1' } });
    await payWith(page, (await scene.createPayment(...TEN_DOLLARS)).gatewayUrl, 'USDC');
    await steps.isPaid(page);
    assert.deepEqual(injected.prompts(), ['wallet_switchEthereumChain', 'eth_signTypedData_v4']);
    await close();
  });

  it('takes the payer back to the shop, three seconds after', ONLY_LONG, async () => {
    const { page, shopVisits, close } = await scene.visitWith({ USDC: TEN_TOKENS });
    const checkout = { successUrl: `${SHOP}/ok?order=1&sig=a%2Fb#top`, errorUrl: `${SHOP}/no` };
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS, { checkout });
    await payWith(page, gatewayUrl, 'USDC');
    await page.waitForURL(`${SHOP}/**`);
    assert.deepEqual(shopVisits, [`${SHOP}/ok?order=1&sig=a%2Fb&payment_id=${paymentId}`]);
    assert.equal(page.url(), `${SHOP}/ok?order=1&sig=a%2Fb&payment_id=${paymentId}#top`);
    await close();
  });
});
