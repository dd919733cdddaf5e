import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { leastPaid, mostFeesOf, splitOverpayment, sweptFee, transferUri } from './deposit.ts';

describe('the money of a deposit address', () => {
  it('may be a little less than asked, rounded in favour of the merchant', () => {
    assert.equal(leastPaid(1_000n, 0), 1_000n);
    assert.equal(leastPaid(1_000n, 50), 995n);
    assert.equal(leastPaid(99n, 100), 99n);
  });

  it('pays up to what is due, and the rest is overpaid', () => {
    assert.deepEqual(splitOverpayment(7n, 10n), { paying: 7n, overpaid: 0n });
    assert.deepEqual(splitOverpayment(10n, 10n), { paying: 10n, overpaid: 0n });
    assert.deepEqual(splitOverpayment(12n, 10n), { paying: 10n, overpaid: 2n });
    assert.deepEqual(splitOverpayment(12n, 0n), { paying: 0n, overpaid: 12n });
  });

  it('bears its share of the fee, and at most the asked fee in the asked asset', () => {
    const terms = { asset: 'a', amount: 100n, fee: 7n, seal: 'ab' };
    const fee = (amount: bigint, asset = 'a', change = {}) => sweptFee({ ...terms, ...change }, { asset, amount });
    assert.deepEqual([fee(0n), fee(50n), fee(100n), fee(300n)], [0n, 3n, 7n, 7n]);
    assert.equal(fee(300n, 'b'), 21n, 'another asset has no bound');
    assert.deepEqual([fee(300n, 'b', { asked: 'b' }), fee(300n, 'a', { asked: 'b' })], [7n, 21n]);
    for (const seal of [null, undefined]) assert.equal(fee(300n, 'a', { seal }), 21n, 'the first contracts had none');
    assert.equal(fee(300n, 'a', { amount: '100', fee: '100' }), 100n);
  });

  it('bears at most the pro rata fee in all its sweeps together, and one sweep in another asset reaches it', () => {
    const terms = { asset: 'a', amount: 1_000n, fee: 10n, seal: 'ab' };
    assert.equal(mostFeesOf(terms, 1_330n), 13n);
    fc.assert(
      fc.property(fc.array(fc.bigInt(0n, 3_000n)), (sweeps) => {
        const units = sweeps.reduce((sum, each) => sum + each, 0n);
        const fees = sweeps
          .map((amount) => sweptFee(terms, { asset: 'a', amount }))
          .reduce((sum, fee) => sum + fee, 0n);
        assert.ok(fees <= mostFeesOf(terms, units));
        assert.equal(sweptFee(terms, { asset: 'b', amount: units }), mostFeesOf(terms, units));
      }),
    );
  });

  it('is asked for by a link as EIP-681 writes it', () => {
    const uri = transferUri({ token: '0xToken', chainNumber: '8453', address: '0xDeposit', amount: 10_000_000n });
    assert.equal(uri, 'ethereum:0xToken@8453/transfer?address=0xDeposit&uint256=10000000');
  });
});
