import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { walletRequests } from '../../src/actions/paying/wallet-requests.ts';
import { type Option, openOption, sealOption } from '../../src/domain/option.ts';
import {
  BASE,
  DESTINATION,
  ETH,
  EURC,
  openPayingShop,
  type PayingShop,
  refusal,
  result,
  SANDBOX,
  USDC,
} from '../e2e/paying-shop.ts';
import { openShop, type Shop } from '../e2e/shop.ts';
import { sealedByTest } from '../sealed.ts';

const HUNDRED_DOLLARS = { amount: { unit: 'iso4217/USD', value: '10000' } };
const STRANGER = '0x9999999999999999999999999999999999999999';
const FUNDS = { [USDC]: 10n ** 9n, [EURC]: 10n ** 9n, [ETH]: 10n ** 18n };
const EXPIRED = [400, 'quote_expired'];

describe('an attacker who has the option key', () => {
  let paying: PayingShop;
  let liveShop: Shop;
  before(async () => {
    paying = await openPayingShop({ chainIds: [SANDBOX, BASE] });
    liveShop = await openShop(paying.gateway, { mode: 'live' });
  });
  after(() => paying.gateway.stop());

  type Change = (option: Option) => Option;

  /** Changes an option of a new payment for 100 dollars, and seals it with the key of the gateway. */
  async function forged(asset: string, change: Change) {
    const payer = paying.newPayer(FUNDS);
    const id = await paying.created(HUNDRED_DOLLARS);
    const listed = await paying.wallet.option(id, payer.account, asset);
    const { optionKeys, world } = paying.gateway;
    const option = openOption(optionKeys, id, listed.id);
    assert.ok(option);
    const changed = change(option);
    return { payer, id, option: changed, optionId: sealOption(optionKeys, changed, world.random.bytes(12)) };
  }

  /** Signs the forged terms and confirms them. */
  async function confirm(asset: string, change: Change) {
    const { payer, id, option, optionId } = await forged(asset, change);
    const { chain } = paying.network();
    const [request] = walletRequests(chain.payerSide, sealedByTest(chain.payerSide, option.item), 10n ** 30n);
    assert.ok(request);
    const signature = await payer.carryOut({ method: request.method, params: [...request.params] });
    return { id, answer: paying.wallet.confirm(id, optionId, [result(signature)]) };
  }

  const withItem = (fields: Partial<Option['item']>): Change => {
    return (option) => ({ ...option, item: { ...option.item, ...fields } });
  };
  /** Terms that agree with each other, at a rate of the attacker's own. */
  const withRate = (price: bigint, amount: bigint): Change => {
    return (option) => ({
      ...option,
      item: { ...option.item, amount, fee: 0n },
      quote: { ...option.quote, ratio: `${price}/1` },
    });
  };

  it('can seal the terms that the gateway offers', async () => {
    const { answer } = await confirm(USDC, (option) => option);
    assert.equal((await answer).json().status, 'processing');
    const { id, optionId } = await forged(ETH, (option) => option);
    assert.equal((await paying.wallet.fetch(id, optionId)).statusCode, 200);
  });

  const signed: readonly [name: string, asset: string, change: Change][] = [
    ['pay one unit', USDC, withItem({ amount: 1n })],
    ['pay one unit less', USDC, withItem({ amount: 99_999_999n })],
    ['pay more, to somebody who then has a claim', USDC, withItem({ amount: 10n ** 9n })],
    ['pay itself', USDC, withItem({ recipient: STRANGER })],
    ['pay the fee to itself', USDC, withItem({ feeAccount: STRANGER, fee: 99_999_999n })],
    ['set a fee', USDC, withItem({ fee: 1n })],
    ['use a contract of its own', USDC, withItem({ collector: STRANGER })],
    ['claim other parts of the fee', USDC, (option) => ({ ...option, feeTerms: { percentage: '50', fixed: '0' } })],
    ['claim another price of the fee', USDC, (option) => ({ ...option, pricedFee: 5n })],
    ['name another account as the buyer', USDC, (option) => ({ ...option, account: `${SANDBOX}:${DESTINATION}` })],
    ['name a rate where none is needed', USDC, (option) => ({ ...option, quote: { pair: 'USD/USD', ratio: '1/1' } })],
    ['sell a euro for a hundred dollars', EURC, withRate(100n, 1_000_000n)],
    ['leave the rate out', EURC, (option) => ({ ...option, quote: null })],
    ['name the rate of something else', EURC, (option) => ({ ...option, quote: { ...option.quote, pair: 'ETH/USD' } })],
    ['name no rate at all', EURC, (option) => ({ ...option, quote: { pair: 'EUR/USD', ratio: '0/1' } })],
    [
      'keep a rate for an hour',
      EURC,
      (option) => {
        const expiresAtS = option.expiresAtS + 3_600;
        return { ...option, expiresAtS, item: { ...option.item, deadlineS: expiresAtS + 120 } };
      },
    ],
    [
      'keep a signature for a year',
      USDC,
      (option) => withItem({ deadlineS: option.item.deadlineS + 31_536_000 })(option),
    ],
  ];
  for (const [name, asset, change] of signed) {
    it(`cannot ${name}`, async () => {
      const { id, answer } = await confirm(asset, change);
      assert.deepEqual(await refusal(answer), EXPIRED);
      assert.deepEqual(await paying.items(id), []);
      assert.equal((await paying.payment(id)).status, 'requires_action');
    });
  }

  const native: readonly [name: string, change: Change][] = [
    ['pay one wei', withItem({ amount: 1n })],
    ['sell coin for a million dollars', withRate(1_000_000n, 10n ** 14n)],
    ['pay itself', withItem({ recipient: STRANGER })],
    [
      'keep the rate for an hour',
      (option) => {
        const expiresAtS = option.expiresAtS + 3_600;
        return { ...option, expiresAtS, item: { ...option.item, deadlineS: expiresAtS } };
      },
    ],
  ];
  for (const [name, change] of native) {
    it(`cannot ${name} by a transaction of its own`, async () => {
      const { id, optionId } = await forged(ETH, change);
      assert.deepEqual(await refusal(paying.wallet.fetch(id, optionId)), EXPIRED);
      assert.deepEqual(await paying.items(id), []);
    });
  }

  it('cannot pay a live payment with play money', async () => {
    const { payer, option } = await forged(USDC, (same) => same);
    const { paymentId } = await liveShop.created(HUNDRED_DOLLARS);
    const { optionKeys, world } = paying.gateway;
    const moved = { ...option, item: { ...option.item, subject: paymentId } };
    const { chain } = paying.network();
    const [request] = walletRequests(chain.payerSide, sealedByTest(chain.payerSide, moved.item), 0n);
    assert.ok(request);
    const signature = await payer.carryOut({ method: request.method, params: [...request.params] });
    const optionId = sealOption(optionKeys, moved, world.random.bytes(12));
    const response = await paying.gateway.call({
      method: 'POST',
      url: `/v1/gateway/payment/${paymentId}/confirm`,
      headers: { ...liveShop.headers, 'content-type': 'application/json' },
      payload: { optionId, results: [result(signature)] },
    });
    assert.deepEqual([response.statusCode, response.json().code], [409, 'executor_not_found']);
    assert.deepEqual(await paying.items(paymentId), []);
  });
});
