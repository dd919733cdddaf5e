import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type FeeTerms, feeFloor, feeOf, fixedFeeOf, isPercentage, NO_FEES, termsInForce } from './fees.ts';
import { feeInToken, quoteFor } from './quote.ts';

const USD = 'iso4217/USD';
const terms = (percentage: string, fixed: string): FeeTerms => ({ percentage, fixed: [{ unit: USD, value: fixed }] });

describe('fees', () => {
  it('are the fixed part and the percentage, which is rounded down', () => {
    assert.equal(feeOf(terms('0.4', '140000'), USD, 5_000_000n), 160_000n);
    assert.equal(feeOf(terms('0.4', '14'), USD, 1_999n), 21n);
    assert.equal(feeOf(terms('2.5', '0'), 'iso4217/EUR', 1_000n), 25n);
  });

  it('take the fixed part only in units that are listed', () => {
    assert.equal(feeOf(terms('0', '14'), 'iso4217/EUR', 1_000n), 0n);
    assert.equal(feeOf(NO_FEES, USD, 1_000n), 0n);
  });

  it('are never more than the payment', () => {
    assert.equal(feeOf(terms('0', '500'), USD, 100n), 100n);
  });

  it('have a floor: the smallest amount that covers its own fee', () => {
    assert.equal(feeFloor(NO_FEES, USD), 1n);
    assert.equal(feeFloor(terms('0.4', '14'), USD), 14n);
    assert.equal(feeFloor(terms('50', '10'), USD), 19n);
    const percentage = fc
      .tuple(fc.integer({ min: 0, max: 99 }), fc.integer({ min: 0, max: 999 }))
      .map(([a, b]) => `${a}.${String(b).padStart(3, '0')}`);
    fc.assert(
      fc.property(percentage, fc.bigInt({ min: 0n, max: 10n ** 12n }), (percent, fixed) => {
        const some = terms(percent, fixed.toString());
        const floor = feeFloor(some, USD);
        // Not `feeOf`, which is never more than the amount.
        const total = (amount: bigint) => fixed + (amount * BigInt(percent.replace('.', ''))) / 100_000n;
        assert.ok(total(floor) <= floor);
        assert.ok(floor === 1n || total(floor - 1n) > floor - 1n);
      }),
    );
  });

  it('have no floor that an amount could reach, if they take everything and a fixed part', () => {
    assert.equal(feeFloor(terms('100', '0'), USD), 1n);
    assert.ok(feeFloor(terms('100', '1'), USD) > 2n ** 256n);
  });

  it('take no percentage by a text that is none', () => {
    assert.equal(feeOf({ percentage: 'none', fixed: [] }, USD, 10_000n), 0n);
  });

  it('are percentages from 0 to 100, written plainly', () => {
    for (const right of ['0', '0.4', '2.50', '99.999999999999999999', '100', '100.0', `100.${'0'.repeat(18)}`])
      assert.ok(isPercentage(right), right);
    const wrong = [
      '',
      '-1',
      '+1',
      '101',
      '100.1',
      '1e1',
      '.5',
      '5.',
      '05',
      '0,4',
      ' 1',
      '1 ',
      '٣',
      'NaN',
      `0.${'1'.repeat(19)}`,
      `100.${'0'.repeat(19)}`,
    ];
    for (const text of wrong) assert.ok(!isPercentage(text), text);
  });

  it('are rounded down in the token and the price up, so the merchant never gets less than the price less the fee', () => {
    const decimals = fc.integer({ min: 0, max: 18 });
    const percentage = fc
      .tuple(fc.integer({ min: 0, max: 99 }), fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }))
      .map(([whole, parts]) => `${whole}.${parts.toString().padStart(18, '0')}`);
    const units = fc.bigInt({ min: 0n, max: 10n ** 15n });
    fc.assert(
      fc.property(percentage, units, units, decimals, decimals, (percent, fixed, value, ofPrice, ofToken) => {
        const some = terms(percent, fixed.toString());
        const price = { unit: USD, value: value + 1n, decimals: ofPrice };
        const asset = { id: 'a', symbol: 'A', decimals: ofToken, peg: 'USD' };
        const quote = quoteFor({ price, asset, rate: undefined });
        assert.ok(quote);
        const pricedFee = feeOf(some, USD, price.value);
        const fee = feeInToken(quote, pricedFee);
        const [ofOnePrice, ofOneToken] = [10n ** BigInt(ofToken), 10n ** BigInt(ofPrice)];
        const [asked, exactFee] = [price.value * ofOnePrice, pricedFee * ofOnePrice];
        assert.ok(fee * ofOneToken <= exactFee && exactFee < (fee + 1n) * ofOneToken);
        assert.ok(quote.amount * ofOneToken >= asked && asked > (quote.amount - 1n) * ofOneToken);
        assert.ok((quote.amount - fee) * ofOneToken >= asked - exactFee);
        // The part that is told apart is never more than the whole.
        assert.ok(feeInToken(quote, fixedFeeOf(some, USD, price.value)) <= fee);
      }),
    );
  });

  it('come from the newest terms in force, the merchant’s before the partner’s', () => {
    const at = (startsAtMs: number, isMerchants: boolean, percentage: string) => ({
      ...terms(percentage, '0'),
      startsAtMs,
      isMerchants,
    });
    const all = [at(0, false, '1'), at(10, false, '2'), at(20, true, '3'), at(30, true, '4')];
    assert.deepEqual(
      [5, 15, 25, 35].map((nowMs) => termsInForce(all, nowMs).percentage),
      ['1', '2', '3', '4'],
    );
    assert.equal(termsInForce([], 5), NO_FEES);
    assert.equal(termsInForce(all, -1), NO_FEES);
    assert.equal(termsInForce(all, 30).percentage, '4', 'from the very moment');
    assert.equal(termsInForce([at(0, true, '1'), at(10, false, '2')], 15).percentage, '1', 'also before newer ones');
    assert.equal(termsInForce([at(10, true, '1'), at(0, true, '2')], 15).percentage, '1', 'in any order');
    assert.equal(termsInForce([at(0, true, '1'), at(0, true, '2')], 15).percentage, '2', 'the last of one moment');
  });
});
