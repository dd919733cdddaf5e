import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { refundIdOf } from '../../src/domain/ids.ts';
import { SANDBOX_ACCOUNTS } from '../../src/sandbox/genesis.ts';
import { REFUND_STRINGS } from '../../web/src/checkout/refund/refund-strings.ts';
import { en } from '../../web/src/checkout/strings/en.ts';
import { ONLY_LONG } from '../long.ts';
import { until } from '../until.ts';
import { assertAccessible } from './accessible.ts';
import { missingBrowser } from './chromium.ts';
import { injectWallet, REJECTED } from './injected-wallet.ts';
import { payWith, type Scene, sharedScene, steps, TEN_DOLLARS, TEN_TOKENS, wordsOf } from './scene.ts';

const words = REFUND_STRINGS.en;
assert.ok(words);

interface RefundBody {
  readonly status: string;
  readonly signUrl?: string;
}

describe('signing for a refund', { skip: missingBrowser(), concurrency: 2 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await sharedScene();
  });

  /** A paid payment of a merchant without a float, and the link of its refund. */
  async function refundOf(symbol: string, shop: string) {
    const asset = scene.assetOf(symbol);
    const { id: merchantId } = await scene.createMerchant(asset, `eip155:31337:${shop}`);
    const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS, {}, merchantId);
    const payer = await scene.visitWith({ [symbol]: TEN_TOKENS, ETH: 10n ** 18n });
    await payWith(payer.page, gatewayUrl, symbol);
    if (symbol === 'USDT') await payer.page.getByRole('button', { name: en.setupContinue }).click();
    await steps.isPaid(payer.page);
    await payer.close();
    await scene.call('POST', '/v1/refunds', { paymentId }, merchantId);
    const url = `/v1/refunds/${refundIdOf(paymentId, 1)}`;
    const read = () => scene.call<RefundBody>('GET', url, undefined, merchantId);
    await until('it waits', async () => (await read()).signUrl !== undefined, { withinMs: 60_000 });
    const { signUrl = '' } = await read();
    return { read, signUrl, payer: payer.wallet };
  }

  it('takes one signature of the account that was paid, and gives the payer everything back', async () => {
    const shop = await scene.visitWith({});
    const { read, signUrl, payer } = await refundOf('USDC', shop.wallet.address);
    const { page, injected } = shop;
    injected.setWhim(({ method }) => (method === 'eth_signTypedData_v4' ? REJECTED : undefined));
    await page.goto(signUrl);
    await steps.isAt(page, words.signTitle);
    await assertAccessible(page, 'a refund to sign');
    await page.getByRole('button', { name: 'Test Wallet' }).click();
    await page.getByText(en.rejected).first().waitFor();
    assert.equal((await read()).status, 'awaiting_funds');
    injected.setWhim(() => undefined);
    await page.getByRole('button', { name: 'Test Wallet' }).click();
    await steps.isAt(page, words.doneTitle);
    assert.deepEqual(injected.prompts(), ['eth_signTypedData_v4', 'eth_signTypedData_v4']);
    assert.equal((await read()).status, 'refunded');
    assert.equal(await scene.balanceOf('USDC', payer.address), TEN_TOKENS);
    assert.equal(await scene.balanceOf('USDC', shop.wallet.address), 0n);
    assert.deepEqual(shop.problems, []);
    assert.deepEqual(shop.strangers, []);
    await shop.close();
  });

  it('names the right account to another wallet, and asks it for nothing', ONLY_LONG, async () => {
    const shop = await scene.visitWith({});
    const { signUrl } = await refundOf('USDC', shop.wallet.address);
    const other = await scene.visitWith({ USDC: TEN_TOKENS });
    await other.page.goto(signUrl);
    await other.page.getByRole('button', { name: 'Test Wallet' }).click();
    await other.page.getByText(wordsOf(words.otherAccount)).first().waitFor();
    assert.deepEqual(other.injected.prompts(), []);
    await injectWallet(other.context, shop.wallet, { name: 'Shop Wallet' });
    await other.page.reload();
    await other.page.getByRole('button', { name: 'Shop Wallet' }).click();
    await steps.isAt(other.page, words.doneTitle);
    await other.close();
    await shop.close();
  });

  it(
    'works with the sandbox wallet of the demo merchant, a token that needs a permission, and in every language',
    ONLY_LONG,
    async () => {
      const { read, signUrl, payer } = await refundOf('USDT', SANDBOX_ACCOUNTS.merchant);
      const visit = await scene.visit();
      await visit.page.goto(`${signUrl}?lang=ar`);
      await visit.page.getByText(REFUND_STRINGS.ar?.signTitle ?? '').waitFor();
      await visit.page.goto(signUrl);
      await visit.page.getByRole('button', { name: en.sandboxWallet }).click();
      await steps.isAt(visit.page, words.doneTitle);
      assert.equal((await read()).status, 'refunded');
      assert.equal(await scene.balanceOf('USDT', payer.address), TEN_TOKENS);
      assert.deepEqual(visit.problems, []);
      await visit.close();
    },
  );

  it('shows nothing for a link of no refund', ONLY_LONG, async () => {
    const visit = await scene.visit();
    const answer = await visit.page.goto(`${scene.baseUrl}/r/00000000000000000000000000`);
    assert.equal(answer?.status(), 404);
    await steps.isAt(visit.page, en.notFoundTitle);
    await visit.close();
  });
});
