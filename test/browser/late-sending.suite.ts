import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { encodeFunctionData, type Hex, parseAbi, parseEther } from 'viem';
import { en } from '../../web/src/checkout/strings/en.ts';
import { ONLY_LONG } from '../long.ts';
import { until } from '../until.ts';
import { missingBrowser } from './chromium.ts';
import { type Scene, sharedScene, steps, TEN_DOLLARS, TEN_TOKENS } from './scene.ts';

const TOKEN = parseAbi(['function transfer(address to, uint256 value)']);
const WITHIN = { withinMs: 60_000 };
const LIFE_MS = 15 * 60_000;

interface LateMoney {
  readonly id: string;
  readonly reason: string;
  readonly amount: { readonly unit: string; readonly value: string };
}

/** The time of the sandbox is moved, so this suite is the last of its process. */
describe('sending to an address too little, or too late', { skip: missingBrowser() }, () => {
  let scene: Scene;
  before(async () => {
    scene = await sharedScene();
  });

  /** The account of an exchange, and a payer who asks for an address on a page of its own. */
  async function openExchange() {
    const wallet = await scene.createWallet({ USDC: 2n * TEN_TOKENS, ETH: parseEther('1') });
    const to = scene.assetOf('USDC').split('erc20:')[1] as Hex;
    return (address: string, value: bigint) =>
      wallet.send({ to, data: encodeFunctionData({ abi: TOKEN, args: [address as Hex, value] }) });
  }

  async function askForAddress(page: Page, gatewayUrl: string): Promise<string> {
    await page.goto(gatewayUrl);
    await page.getByRole('button', { name: en.sendAnywhere }).click();
    await page.getByRole('button', { name: /^USDC/ }).click();
    return page.getByText(/^0x[0-9a-fA-F]{40}$/).innerText();
  }

  /** The page has not been loaded again since its payment ended. */
  async function isShown(page: Page, reason: string, amount: RegExp): Promise<void> {
    await page.locator('.receipt-line', { hasText: reason }).getByText(amount).waitFor();
  }

  const lateMoney = async (paymentId: string): Promise<LateMoney[]> => {
    const { events } = await scene.call<{ events: { data: { id: string; lateMoney: LateMoney } }[] }>(
      'GET',
      '/v1/events?types=payment.late_money&limit=100',
    );
    return events.filter(({ data }) => data.id === paymentId).map(({ data }) => data.lateMoney);
  };

  it(
    'ends without a payment, names the money, and gives it back to an account that the shop names',
    ONLY_LONG,
    async () => {
      const [little, late] = [await scene.visit(), await scene.visit()];
      const pay = await openExchange();
      const [first, second] = [await scene.createPayment(...TEN_DOLLARS), await scene.createPayment(...TEN_DOLLARS)];
      const addresses = [
        await askForAddress(little.page, first.gatewayUrl),
        await askForAddress(late.page, second.gatewayUrl),
      ] as const;
      await pay(addresses[0], 4_000_000n);
      await little.page.getByText(/^4\.00\sUSDC of 10\.00\sUSDC arrived\./).waitFor();
      assert.deepEqual(await lateMoney(first.paymentId), [], 'the rest may still come');

      await scene.call('POST', '/v1/test/clock', { advanceMs: LIFE_MS });
      for (const { page } of [little, late]) {
        await page.reload();
        await steps.isAt(page, en.expiredTitle);
      }
      const isNamed = async (id: string, reason: string, value: string) => {
        const [money] = await lateMoney(id);
        if (money === undefined) return false;
        const unit = `caip19/${scene.assetOf('USDC')}`;
        assert.deepEqual([money.reason, money.amount.unit, money.amount.value], [reason, unit, value]);
        return true;
      };
      await until('the part is named', () => isNamed(first.paymentId, 'underpaid', '4000000'), WITHIN);
      await isShown(little.page, en.underpaid, /^4\.00\sUSDC$/);

      await pay(addresses[1], TEN_TOKENS);
      await until('the late money is named', () => isNamed(second.paymentId, 'late', TEN_TOKENS.toString()), WITHIN);
      await isShown(late.page, en.late, /^10\.00\sUSDC$/);
      assert.equal(await scene.statusOf(second.paymentId), 'expired');
      const path = `/v1/late-money?paymentId=${second.paymentId}`;
      const [money] = (await scene.call<{ lateMoney: LateMoney[] }>('GET', path)).lateMoney;
      assert.equal(money?.id, (await lateMoney(second.paymentId))[0]?.id);
      const { address: payer } = await scene.createWallet({});
      const destination = `eip155:31337:${payer}`;
      await scene.call('POST', `/v1/late-money/${money?.id}/return`, { destination });
      const isBack = async () => {
        const { status } = await scene.call<{ status: string }>('GET', `/v1/late-money/${money?.id}`);
        return status === 'returned';
      };
      await until('the money is back', isBack, WITHIN);
      assert.equal(await scene.balanceOf('USDC', payer), TEN_TOKENS);
      await late.page.getByText(en.lateReturned).waitFor();
      for (const visit of [little, late]) {
        // Between the jump of the clock and the reload the page may ask for its address once more.
        assert.deepEqual(
          visit.problems.filter((text) => !text.includes('status of 410')),
          [],
        );
        await visit.close();
      }
    },
  );
});
