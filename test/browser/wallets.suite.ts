import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { en } from '../../web/src/checkout/strings/en.ts';
import { onlyLongIf } from '../long.ts';
import { missingBrowser } from './chromium.ts';
import { REJECTED, SILENCE, type Whim } from './injected-wallet.ts';
import { payWith, type Scene, sharedScene, steps, TEN_DOLLARS, TEN_TOKENS, wordsOf } from './scene.ts';

const on =
  (wanted: string, answer: unknown): Whim =>
  ({ method }) =>
    method === wanted ? answer : undefined;

/** Longer than the time after which the page shows a hint. */
const PATIENCE_MS = 13_000;

describe('wallets that do not behave', { skip: missingBrowser(), concurrency: 2 }, () => {
  let scene: Scene;
  before(async () => {
    scene = await sharedScene();
  });

  for (const [what, whim, notice] of [
    ['say no', on('eth_requestAccounts', REJECTED), en.rejected],
    [
      'are busy with another request',
      on('eth_requestAccounts', { failure: { code: -32002, message: 'busy' } }),
      en.pendingRequest,
    ],
    ['answer with a word', on('eth_requestAccounts', { result: 'yes' }), en.walletNonsense],
    ['answer with nothing', on('eth_requestAccounts', { result: null }), en.walletNonsense],
    ['answer with something that is no account', on('eth_requestAccounts', { result: ['0x12'] }), en.walletNonsense],
    ['break', on('eth_requestAccounts', { failure: { code: -32603, message: '<b>boom</b>' } }), en.walletError],
  ] as const) {
    it(
      `when they are to connect and ${what}: the payer sees a notice, and can continue`,
      onlyLongIf(what !== 'say no'),
      async () => {
        const { page, injected, problems, close } = await scene.visitWith({ USDC: TEN_TOKENS }, { wallet: { whim } });
        await page.goto((await scene.createPayment(...TEN_DOLLARS)).gatewayUrl);
        await page.getByRole('button', { name: 'Test Wallet' }).click();
        await page.getByText(notice).first().waitFor();
        injected.setWhim(() => undefined);
        await steps.connect(page);
        assert.deepEqual(
          problems.filter((text) => !text.includes('404')),
          [],
        );
        await close();
      },
    );
  }

  for (const [what, whim, notice] of [
    ['sign with nonsense', on('eth_signTypedData_v4', { result: 'signed!' }), en.walletNonsense],
    [
      'sign for another account',
      on('eth_signTypedData_v4', { result: `0x${'11'.repeat(32)}${'22'.repeat(32)}1b` }),
      en.wrongAccount,
    ],
    ['have changed their account meanwhile', on('eth_accounts', { result: [`0x${'ab'.repeat(20)}`] }), en.wrongAccount],
    ['have been locked meanwhile', on('eth_accounts', { result: [] }), en.walletLocked],
  ] as const) {
    it(
      `when they are to pay and ${what}: nothing is charged, and the payer can try again`,
      onlyLongIf(what !== 'sign for another account'),
      async () => {
        const { page, injected, close } = await scene.visitWith({ USDC: TEN_TOKENS });
        const { paymentId, gatewayUrl } = await scene.createPayment(...TEN_DOLLARS);
        injected.setWhim(whim);
        await payWith(page, gatewayUrl, 'USDC');
        await page.getByText(wordsOf(notice)).first().waitFor();
        assert.equal(await scene.statusOf(paymentId), 'requires_action');
        injected.setWhim(() => undefined);
        await steps.pay(page);
        await steps.isPaid(page);
        await close();
      },
    );
  }

  for (const [what, answer] of [
    ['refuse to switch', REJECTED],
    ['say that they switched and do not', { result: null }],
  ] as const) {
    it(`that are on another network and ${what}`, onlyLongIf(what !== 'refuse to switch'), async () => {
      const whim = on('wallet_switchEthereumChain', answer);
      const { page, close } = await scene.visitWith({ USDC: TEN_TOKENS }, { wallet: { chainId: '0x1', whim } });
      await payWith(page, (await scene.createPayment(...TEN_DOLLARS)).gatewayUrl, 'USDC');
      await page.getByText(wordsOf(en.wrongChain)).first().waitFor();
      await close();
    });
  }

  it('never answer: the payer sees a hint, and can use another wallet', async () => {
    const whim = on('eth_requestAccounts', SILENCE);
    const { page, close } = await scene.visitWith({ USDC: TEN_TOKENS }, { wallet: { whim } });
    await page.clock.install();
    await page.goto((await scene.createPayment(...TEN_DOLLARS)).gatewayUrl);
    await page.getByRole('button', { name: 'Test Wallet' }).click();
    await steps.isAt(page, en.connectingTitle);
    await page.clock.runFor(PATIENCE_MS);
    await page.getByText(en.slowWallet).first().waitFor();
    await page.getByRole('button', { name: en.useAnother }).click();
    await steps.isAt(page, en.readyTitle);
    await close();
  });
});
