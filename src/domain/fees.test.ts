import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type FeeTerms, feeFloor, feeOf, NO_FEES, termsInForce } from './fees.ts';

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
        assert.ok(feeOf(some, USD, floor) <= floor);
        const total = (amount: bigint) => fixed + (amount * BigInt(percent.replace('.', ''))) / 100_000n;
        assert.ok(floor === 1n || total(floor - 1n) > floor - 1n);
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
  });
});
