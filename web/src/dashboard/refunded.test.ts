import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leftToRefund, mayRefund, refundRequest } from './refunded.ts';

const usd = (value: string) => ({
  unit: 'iso4217/USD',
  value,
  display: { assetSymbol: 'USD', assetName: 'US Dollar', decimals: 2 },
});

describe('a refund', () => {
  it('is of what the gateway states, and never of a rest that the page computes', () => {
    assert.equal(leftToRefund({ refundable: { priceAmount: usd('699'), amount: usd('6990000') } }), 699n);
    assert.equal(leftToRefund({ refundable: null }), 0n);
  });

  it('names the confirmed amount, also if it is all that is left', () => {
    const payment = { id: 'pay_1', amount: usd('10000') };
    assert.deepEqual(refundRequest(payment, { units: 10_000n, reason: ' ' }), {
      paymentId: 'pay_1',
      amount: { unit: 'iso4217/USD', value: '10000' },
    });
    assert.deepEqual(refundRequest(payment, { units: 6_000n, reason: ' broken ' }), {
      paymentId: 'pay_1',
      amount: { unit: 'iso4217/USD', value: '6000' },
      reason: 'broken',
    });
  });

  it('is within the limit of the person, towards which earlier refunds of the payment count', () => {
    const payment = { amount: usd('1000'), refundable: { priceAmount: usd('700'), amount: usd('7000000') } };
    assert.equal(mayRefund(payment, undefined), 700n);
    assert.equal(mayRefund(payment, 5_000n), 700n);
    assert.equal(mayRefund(payment, 500n), 200n);
    assert.equal(mayRefund(payment, 100n), 0n);
  });
});
