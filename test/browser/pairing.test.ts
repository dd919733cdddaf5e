import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { parseEther } from 'viem';
import { en } from '../../web/src/checkout/strings/en.ts';
import { qrShape } from '../../web/src/shared/qr.ts';
import { ONLY_LONG } from '../long.ts';
import { until } from '../until.ts';
import { missingBrowser } from './chromium.ts';
import { injectWallet } from './injected-wallet.ts';
import { openPhoneWallet, type PhoneWalletInput } from './phone-wallet.ts';
import { type Relay, startRelay } from './relay.ts';
import { assertSpent, openScene, type Scene, steps, TEN_DOLLARS, TEN_TOKENS, wordsOf } from './scene.ts';

const PROJECT_ID = '0123456789abcdef0123456789abcdef';
const STRANGER = `0x${'ab'.repeat(20)}`;

describe('pairing a phone wallet', { skip: missingBrowser() }, () => {
  let relay: Relay;
  let scene: Scene;
  before(async () => {
    relay = await startRelay();
    scene = await openScene({ WALLETCONNECT_PROJECT_ID: PROJECT_ID, WALLETCONNECT_RELAY_URL: relay.url });
  });
  after(async () => {
    await scene?.close();
    await relay?.close();
  });

  /** A payer with a phone, whose browser shows the payment. */
  async function open(holdings: Readonly<Record<string, bigint>>, traits: Partial<PhoneWalletInput> = {}) {
    const wallet = await scene.createWallet(holdings);
    const [visit, phone, payment] = await Promise.all([
      scene.visit(),
      openPhoneWallet({ relay, wallet, ...traits }),
      scene.createPayment(...TEN_DOLLARS),
    ]);
    const { page } = visit;
    const close = async () => {
      await visit.close();
      await phone.close();
    };
    return { ...visit, ...payment, wallet, phone, page, close };
  }

  async function showCode(page: Page): Promise<string> {
    await page.getByRole('button', { name: en.pairedWallet }).click();
    await page.getByRole('img', { name: en.pairingLabel }).waitFor();
    const uri = await page.locator('a[href^="wc:"]').getAttribute('href');
    assert.ok(uri);
    return uri;
  }

  async function pair({
    page,
    phone,
    gatewayUrl,
  }: Pick<Awaited<ReturnType<typeof open>>, 'page' | 'phone' | 'gatewayUrl'>) {
    await page.goto(gatewayUrl);
    await phone.scan(await showCode(page));
    await steps.isAt(page, en.choosingTitle);
  }

  async function payWithPhone(payer: Awaited<ReturnType<typeof open>>, symbol: string): Promise<void> {
    await pair(payer);
    await steps.choose(payer.page, symbol);
    await steps.pay(payer.page);
  }

  it('pays with one signature on the phone, and ends the session', async () => {
    const payer = await open({ USDC: TEN_TOKENS + 5n });
    const { page, phone, wallet, requests, strangers, problems, paymentId, gatewayUrl } = payer;
    const answer = await page.goto(gatewayUrl);
    assert.ok(answer?.headers()['content-security-policy']?.includes(`connect-src 'self' ${relay.url};`));
    await page.getByRole('button', { name: en.pairedWallet }).waitFor();
    assert.ok(!requests.some((url) => url.includes('paired-wallet')), 'the code is loaded when it is chosen');
    const uri = await showCode(page);
    assert.equal(await page.locator('.qr-code path').getAttribute('d'), qrShape(uri).path);
    await phone.scan(uri);
    await steps.isAt(page, en.choosingTitle);
    await steps.choose(page, 'USDC');
    await steps.pay(page);
    await steps.isPaid(page);
    assert.equal(await scene.statusOf(paymentId), 'succeeded');
    await assertSpent(scene, wallet, 'USDC', 5n);
    assert.deepEqual(
      phone.requests.map(({ method }) => method),
      ['eth_signTypedData_v4'],
    );
    const { eip155 } = (phone.proposals[0] as { optionalNamespaces: { eip155: object } }).optionalNamespaces;
    assert.deepEqual(eip155, {
      chains: ['eip155:31337'],
      methods: ['eth_signTypedData_v4', 'eth_sendTransaction'],
      events: ['accountsChanged', 'chainChanged'],
    });
    await until('the wallet knows that the session is over', () => phone.ended.length === 1);
    // The wallet is told first, and forgets the session afterwards.
    await until('the wallet has no session', () => phone.sessions().length === 0);
    assert.deepEqual(problems, [], 'the policy of the page has refused nothing');
    assert.deepEqual(strangers, []);
    assert.deepEqual(await page.evaluate('indexedDB.databases()'), [], 'no key of the session is stored');
    await payer.close();
  });

  it('waits for the permission of a token that needs one, without reading the chain', ONLY_LONG, async () => {
    const payer = await open({ USDT: TEN_TOKENS, ETH: parseEther('1') });
    await payWithPhone(payer, 'USDT');
    await steps.isAt(payer.page, en.setupTitle);
    await payer.page.getByRole('button', { name: en.setupContinue }).click();
    await steps.isPaid(payer.page);
    assert.deepEqual(
      payer.phone.requests.map(({ method }) => method),
      ['eth_sendTransaction', 'eth_signTypedData_v4'],
    );
    await payer.close();
  });

  it('survives a relay that loses all connections during the request', async () => {
    const payer = await open({ ETH: parseEther('1') }, { whim: () => void relay.dropAll() });
    await payWithPhone(payer, 'ETH');
    await steps.isPaid(payer.page);
    assert.equal(await scene.statusOf(payer.paymentId), 'succeeded');
    await payer.close();
  });

  it('says that the wallet declined, and pairs again by a new code', ONLY_LONG, async () => {
    const payer = await open({ USDC: TEN_TOKENS });
    const { page, phone, gatewayUrl } = payer;
    const refusing = await openPhoneWallet({ relay, wallet: payer.wallet, isRejecting: true });
    await page.goto(gatewayUrl);
    const first = await showCode(page);
    await refusing.scan(first);
    await page.getByText(en.rejected).first().waitFor();
    await refusing.close();
    const second = await showCode(page);
    assert.notEqual(second, first);
    await phone.scan(second);
    await steps.isAt(page, en.choosingTitle);
    await payer.close();
  });

  it('refuses a session without a network of the payment, and ends it', ONLY_LONG, async () => {
    const payer = await open({ USDC: TEN_TOKENS }, { accounts: [`eip155:1:${STRANGER}`] });
    const { page, phone, gatewayUrl } = payer;
    await page.goto(gatewayUrl);
    await phone.scan(await showCode(page));
    await page.getByText(en.networkNotShared).first().waitFor();
    await until('the wallet knows that the session is over', () => phone.ended.length === 1);
    await steps.isAt(page, en.readyTitle);
    await payer.close();
  });

  it('takes no signature of another account', ONLY_LONG, async () => {
    const forged = { result: `0x${'11'.repeat(32)}${'22'.repeat(32)}1b` };
    const payer = await open({ USDC: TEN_TOKENS }, { whim: () => forged });
    await payWithPhone(payer, 'USDC');
    await payer.page.getByText(wordsOf(en.wrongAccount)).first().waitFor();
    assert.equal(await scene.statusOf(payer.paymentId), 'requires_action');
    await payer.close();
  });

  it('says that the payer declined the payment, and lets them try again', ONLY_LONG, async () => {
    let answer: unknown = { error: { code: 5000, message: 'User rejected.' } };
    const payer = await open({ USDC: TEN_TOKENS }, { whim: () => answer });
    await payWithPhone(payer, 'USDC');
    await payer.page.getByText(en.rejected).first().waitFor();
    answer = undefined;
    await steps.pay(payer.page);
    await steps.isPaid(payer.page);
    await payer.close();
  });

  it('goes back to the start when the wallet ends the session', ONLY_LONG, async () => {
    const payer = await open({ USDC: TEN_TOKENS });
    await pair(payer);
    await payer.phone.disconnect();
    await payer.page.getByText(en.walletLocked).first().waitFor();
    await steps.isAt(payer.page, en.readyTitle);
    await payer.close();
  });

  it('does not call a transaction failed whose wallet fell silent', ONLY_LONG, async () => {
    const payer = await open({ ETH: parseEther('1') }, { whim: () => ({ isSilent: true }) });
    await payWithPhone(payer, 'ETH');
    await until('the phone has the request', () => payer.phone.requests.length === 1);
    await payer.phone.disconnect();
    await payer.page.getByText(en.maybePending).first().waitFor();
    await payer.page.reload();
    await payer.page.getByText(en.maybePending).first().waitFor();
    await payer.close();
  });

  it('ends the session when the payer goes back, and when the page is left', ONLY_LONG, async () => {
    const payer = await open({ USDC: TEN_TOKENS });
    const { page, phone } = payer;
    await pair(payer);
    await page.getByRole('button', { name: en.changeWallet }).click();
    await until('the wallet knows that the first session is over', () => phone.ended.length === 1);
    await phone.scan(await showCode(page));
    await steps.isAt(page, en.choosingTitle);
    await page.goto('about:blank');
    await until('the wallet knows that the second session is over', () => phone.ended.length === 2);
    await payer.close();
  });

  it('ends the session of a code that the payer had left', ONLY_LONG, async () => {
    const payer = await open({ USDC: TEN_TOKENS });
    const { page, phone, gatewayUrl } = payer;
    await page.goto(gatewayUrl);
    const uri = await showCode(page);
    await page.getByRole('button', { name: en.useAnother }).click();
    await steps.isAt(page, en.readyTitle);
    await phone.scan(uri);
    await until('the wallet knows that the session is over', () => phone.ended.length === 1);
    await steps.isAt(page, en.readyTitle);
    await payer.close();
  });

  it('says that a code has expired', ONLY_LONG, async () => {
    const payer = await open({});
    const { page, gatewayUrl } = payer;
    await page.clock.install();
    await page.goto(gatewayUrl);
    await showCode(page);
    await page.clock.fastForward(301_000);
    await page.getByText(en.codeExpired).first().waitFor();
    await payer.close();
  });

  it('says that the relay is out of reach, and takes another wallet', ONLY_LONG, async () => {
    const payer = await open({ USDC: TEN_TOKENS });
    const { context, page, wallet, gatewayUrl } = payer;
    await injectWallet(context, wallet);
    relay.setRefusing(true);
    try {
      await page.clock.install();
      await page.goto(gatewayUrl);
      await page.getByRole('button', { name: en.pairedWallet }).click();
      await steps.isAt(page, en.pairingTitle);
      await until('the page gives up', async () => {
        await page.clock.runFor(5_000);
        return page.getByText(en.relayAway).first().isVisible();
      });
    } finally {
      relay.setRefusing(false);
    }
    await steps.connect(page);
    await steps.pay(page);
    await steps.isPaid(page);
    await payer.close();
  });
});
