import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { amountField, leftToRefund, minorUnits } from './refunded.ts';

const usd = (value: string) => ({
  unit: 'iso4217/USD',
  value,
  display: { assetSymbol: 'USD', assetName: 'US Dollar', decimals: 2 },
});
const refund = (value: string) => ({ priceAmount: usd(value) });

describe('a refund in parts', () => {
  it('leaves the price less all refunds, of a succeeded payment with less than twelve', () => {
    const payment = { status: 'succeeded', amount: usd('1000') } as const;
    assert.equal(leftToRefund(payment), 1000n);
    assert.equal(leftToRefund({ ...payment, refunds: [refund('300'), refund('1')] }), 699n);
    assert.equal(leftToRefund({ ...payment, refunds: [refund('1000')] }), 0n);
    assert.equal(leftToRefund({ ...payment, refunds: Array.from({ length: 12 }, () => refund('1')) }), 0n);
    assert.equal(leftToRefund({ ...payment, status: 'processing' }), 0n);
  });

  it('reads amounts as people write them, and nothing else', () => {
    assert.equal(minorUnits('3', 2), 300n);
    assert.equal(minorUnits(' 3,5 ', 2), 350n);
    assert.equal(minorUnits('0.000001', 6), 1n);
    assert.equal(minorUnits('12', 0), 12n);
    for (const text of ['', '-1', '1.234', '1e3', '0x10', '1.', '.5', '1.2.3', '1,000.00', '٣']) {
      assert.equal(minorUnits(text, 2), undefined, text);
    }
    assert.equal(minorUnits(amountField(12_345n, 2), 2), 12_345n);
  });
});
