import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseEther } from 'viem';
import { onlyLongIf } from '../long.ts';
import { until } from '../until.ts';
import { isLoopback, type LoopbackOnly, stayOnLoopback } from '../wallet-sdk/loopback-only.ts';
import { type CreatedPayment, type Sandbox, startSandbox } from '../wallet-sdk/sandbox.ts';
import { createSdk, SDK_VERSIONS, type WalletSdk } from '../wallet-sdk/sdk.ts';
import type { TestWallet } from '../wallet-sdk/test-wallet.ts';

/** How a payer's wallet may be told of the payment. */
const LINKS = {
  'by id': ({ paymentId }: CreatedPayment) => paymentId,
  'by gateway URL': ({ gatewayUrl }: CreatedPayment) => gatewayUrl,
} as const;
const NEWEST = Object.keys(SDK_VERSIONS)[0];
type Price = readonly [unit: string, value: string];
const TEN_DOLLARS: Price = ['iso4217/USD', '1000'];
const TEN_EUROS: Price = ['iso4217/EUR', '1000'];
const TEN_TOKENS = 10_000_000n;
/** Long enough for a busy machine to sign in, and no longer than the slowest payment beside it takes. */
const LIFETIME_S = 5;

describe('the published wallet SDK', () => {
  let guard: LoopbackOnly;
  let sandbox: Sandbox;
  before(async () => {
    guard = stayOnLoopback();
    sandbox = await startSandbox();
  });
  after(async () => {
    await sandbox?.stop();
    guard.lift();
  });

  /** Asks what the wallet could pay with, and picks the asset. */
  async function choose(sdk: WalletSdk, paymentLink: string, wallet: TestWallet, symbol: string) {
    const { paymentId, options } = await sdk.getPaymentOptions({
      paymentLink,
      accounts: [wallet.account],
      includePaymentInfo: true,
    });
    const option = options.find(({ amount }) => amount.unit === `caip19/${sandbox.assetOf(symbol)}`);
    assert.ok(option, `${symbol} is offered`);
    assert.equal(option.account, wallet.account);
    const actions = await sdk.getRequiredPaymentActions({ paymentId, optionId: option.id });
    return { paymentId, option, requests: actions.map(({ walletRpc }) => walletRpc) };
  }

  /** From the link to the money, as a wallet does it. */
  async function pay(sdk: WalletSdk, paymentLink: string, wallet: TestWallet, symbol: string) {
    const { paymentId, option, requests } = await choose(sdk, paymentLink, wallet, symbol);
    const signatures = await wallet.answerAll(requests);
    const result = await sdk.confirmPayment({ paymentId, optionId: option.id, signatures });
    assert.equal(result.status, 'succeeded');
    assert.equal(result.isFinal, true);
    assert.equal(result.info?.optionAmount.value, option.amount.value);
    assert.equal((await sandbox.receiptOf(result.info?.txId ?? '')).status, 'success');
    return { amount: BigInt(option.amount.value), methods: requests.map(({ method }) => method) };
  }

  // Nearly all of a payment is the SDK's pause before it asks again, so payments wait side by side.
  for (const version of Object.keys(SDK_VERSIONS)) {
    describe(version, { concurrency: 8, ...onlyLongIf(version !== NEWEST) }, () => {
      const open = () => createSdk({ version, baseUrl: sandbox.baseUrl, appId: sandbox.appId });

      // `test/wallet-sdk/` tries both links with every version.
      for (const [how, linkOf] of Object.entries(LINKS)) {
        for (const [symbol, price] of [
          ['USDC', TEN_DOLLARS],
          ['EURC', TEN_EUROS],
        ] as const) {
          it(`pays ${symbol} with one signature and no gas, ${how}`, async () => {
            const wallet = await sandbox.createWallet({ [symbol]: TEN_TOKENS + 5n });
            const payment = await sandbox.createPayment(...price);
            const { methods } = await pay(await open(), linkOf(payment), wallet, symbol);
            assert.deepEqual(methods, ['eth_signTypedData_v4']);
            assert.equal(await sandbox.balanceOf(symbol, wallet.address), 5n);
          });
        }

        it(`pays USDT with an approval the first time and without one after, ${how}`, async () => {
          const wallet = await sandbox.createWallet({ USDT: 2n * TEN_TOKENS, ETH: parseEther('1') });
          const sdk = await open();
          const first = await pay(sdk, linkOf(await sandbox.createPayment(...TEN_DOLLARS)), wallet, 'USDT');
          assert.deepEqual(first.methods, ['eth_sendTransaction', 'eth_signTypedData_v4']);
          const second = await pay(sdk, linkOf(await sandbox.createPayment(...TEN_DOLLARS)), wallet, 'USDT');
          assert.deepEqual(second.methods, ['eth_signTypedData_v4']);
          assert.equal(await sandbox.balanceOf('USDT', wallet.address), 0n);
        });

        it(`pays the chain's own coin with a transaction of the payer, ${how}`, async () => {
          const wallet = await sandbox.createWallet({ ETH: parseEther('1') });
          const payment = await sandbox.createPayment(...TEN_DOLLARS);
          const { amount, methods } = await pay(await open(), linkOf(payment), wallet, 'ETH');
          assert.deepEqual(methods, ['eth_sendTransaction']);
          const left = await wallet.reader.getBalance({ address: wallet.address });
          assert.ok(left < parseEther('1') - amount, 'the payer paid the amount, and the gas of the transaction');
        });
      }

      it('pays by the plain link, which the QR code of the checkout holds', async () => {
        const wallet = await sandbox.createWallet({ USDC: TEN_TOKENS });
        const { paymentId, gatewayUrl } = await sandbox.createPayment(...TEN_DOLLARS);
        await pay(await open(), new URL(`/c/${paymentId.slice(4)}`, gatewayUrl).href, wallet, 'USDC');
        assert.equal(await sandbox.balanceOf('USDC', wallet.address), 0n);
      });

      it('reads that a payment is not there', async () => {
        const sdk = await open();
        const wallet = await sandbox.createWallet({});
        const paymentLink = 'pay_01H0000000000000000000000A';
        await assert.rejects(sdk.getPaymentOptions({ paymentLink, accounts: [wallet.account] }), /payment not found/i);
      });

      it('reads that a payment has expired, before and after it was signed', async () => {
        const sdk = await open();
        const wallet = await sandbox.createWallet({ USDC: TEN_TOKENS });
        const expiresAt = Math.floor(Date.now() / 1000) + LIFETIME_S;
        const payment = await sandbox.createPayment(...TEN_DOLLARS, { expiresAt });
        const { paymentId, option, requests } = await choose(sdk, payment.paymentId, wallet, 'USDC');
        const signatures = await wallet.answerAll(requests);
        const path = `/v1/payments/${payment.paymentId}/status`;
        const isExpired = async () => (await sandbox.call<{ status: string }>('GET', path)).status === 'expired';
        await until('the payment has expired', isExpired);
        await assert.rejects(sdk.confirmPayment({ paymentId, optionId: option.id, signatures }), /payment expired/i);
        const asked = { paymentLink: payment.paymentId, accounts: [wallet.account] };
        await assert.rejects(sdk.getPaymentOptions({ ...asked, includePaymentInfo: false }), /payment expired/i);
        const { info, options } = await sdk.getPaymentOptions({ ...asked, includePaymentInfo: true });
        assert.equal(info?.status, 'expired');
        assert.deepEqual(options, []);
        assert.equal(await sandbox.balanceOf('USDC', wallet.address), TEN_TOKENS);
      });

      it('reads that a quote no longer holds, and pays by a new one', async () => {
        const sdk = await open();
        const wallet = await sandbox.createWallet({ USDC: TEN_TOKENS });
        const [before, now] = [await sandbox.createWallet({}), await sandbox.createWallet({})];
        const shop = await sandbox.createMerchant(sandbox.assetOf('USDC'), before.account);
        const payment = await sandbox.createPayment(...TEN_DOLLARS, {}, shop.id);
        const { paymentId, option, requests } = await choose(sdk, payment.gatewayUrl, wallet, 'USDC');
        const signatures = await wallet.answerAll(requests);
        await shop.payElsewhere(now.account);
        await assert.rejects(sdk.confirmPayment({ paymentId, optionId: option.id, signatures }), /quote expired/i);
        const { amount } = await pay(sdk, payment.gatewayUrl, wallet, 'USDC');
        assert.equal(await sandbox.balanceOf('USDC', now.address), amount);
        assert.equal(await sandbox.balanceOf('USDC', before.address), 0n);
      });

      it("reads that another account's signature is none", async () => {
        const sdk = await open();
        const wallet = await sandbox.createWallet({ USDC: TEN_TOKENS });
        const payment = await sandbox.createPayment(...TEN_DOLLARS);
        const { paymentId, option, requests } = await choose(sdk, payment.paymentId, wallet, 'USDC');
        const [genuine = ''] = await wallet.answerAll(requests);
        const signatures = [otherSignature(genuine)];
        await assert.rejects(sdk.confirmPayment({ paymentId, optionId: option.id, signatures }), /invalid signature/i);
        assert.equal(await sandbox.balanceOf('USDC', wallet.address), TEN_TOKENS);
      });
    });
  }

  it('reaches nothing but this machine', () => {
    for (const host of guard.connectedHosts()) assert.ok(isLoopback(host), host);
    for (const host of guard.refusedHosts()) assert.match(host, /\.walletconnect\.org$/);
  });
});

/** A well-formed signature of the same length that recovers to somebody else: another s, still a low one. */
function otherSignature(signature: string): string {
  const s = BigInt(`0x${signature.slice(66, 130)}`);
  return `${signature.slice(0, 66)}${(s - 1n).toString(16).padStart(64, '0')}${signature.slice(130)}`;
}
