import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setFees } from '../../src/actions/parties/set-fees.ts';
import { freshKey } from '../gateway.ts';
import { findAsset } from '../registry.ts';
import {
  DESTINATION,
  ETH,
  EURC,
  INTERMEDIATE,
  openPayingShop,
  type PayingShop,
  result,
  SANDBOX,
  USDC,
} from './paying-shop.ts';
import { openShop, type Shop } from './shop.ts';

const TERMS = { percentage: '0.4', fixed: [{ unit: 'iso4217/USD', value: '14' }] };

describe('the terms that a payer signs', () => {
  let paying: PayingShop;
  let shop: Shop;
  before(async () => {
    paying = await openPayingShop();
    shop = await openShop(paying.gateway);
    const payee = { merchantId: shop.merchant.id };
    // Before the merchant is first paid, so that no node can have read it with other fees.
    await setFees(paying.gateway, { actor: 'test', payee, terms: TERMS, startsAt: undefined });
    await paying.time.advance(5_000);
    const response = await paying.gateway.call({
      method: 'POST',
      url: `/v1/merchants/${shop.merchant.id}/settlements/crypto`,
      headers: { ...shop.headers, 'idempotency-key': freshKey() },
      payload: { settlements: [{ asset: USDC, destination: `${SANDBOX}:${DESTINATION}` }] },
    });
    assert.equal(response.statusCode, 201, response.body);
  });
  after(() => paying.gateway.stop());

  /** A payment of twenty dollars that was signed for, or whose native action was handed out. */
  async function accepted(asset: string) {
    const payment = await paying.created({ amount: { unit: 'iso4217/USD', value: '1999' } }, shop);
    const payer = paying.newPayer({ [asset]: 10n ** 20n });
    const { wallet } = paying;
    const option = await wallet.option(payment, payer.account, asset);
    const answer =
      asset === ETH
        ? await wallet.fetch(payment, option.id)
        : await wallet.confirm(payment, option.id, [result(await payer.sign(option))]);
    assert.equal(answer.statusCode, 200, answer.body);
    const [item] = await paying.items(payment);
    assert.ok(item);
    return item;
  }

  it('are stored with the payment: the parts of the fee, and the merchant’s destination', async () => {
    const item = await accepted(USDC);
    assert.deepEqual([item.recipient, item.isHeld], [DESTINATION, false]);
    assert.deepEqual([item.amount, item.fee], ['19990000', '210000']);
    assert.deepEqual(item.feeTerms, { percentage: '0.4', fixed: '140000' });
  });

  it('are stored too where the operator holds the money, with the fee converted by the rate of the payment', async () => {
    for (const asset of [EURC, ETH]) {
      const item = await accepted(asset);
      assert.deepEqual([item.recipient, item.isHeld], [INTERMEDIATE, true]);
      const [amount, fee, fixed] = [BigInt(item.amount), BigInt(item.fee), BigInt(item.feeTerms?.fixed ?? -1)];
      const { decimals = 0, quoteDecimals = 0 } = findAsset(asset) ?? {};
      // The amount was rounded up by less than this; the fees follow from the amount before.
      const step = 10n ** BigInt(decimals - quoteDecimals);
      for (const [converted, cents] of [
        [fee, 21n],
        [fixed, 14n],
      ] as const) {
        assert.ok(converted <= (amount * cents) / 1999n && converted >= ((amount - step) * cents) / 1999n - 1n);
      }
      assert.equal(item.feeTerms?.percentage, '0.4');
    }
  });
});
