import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Ratio, ratio } from '../domain/rate.ts';
import { agreeing } from './agreement.ts';

const ONE_PERCENT = 100;
const opinions = (...prices: number[]) => prices.map((price) => ({ price, value: ratio(BigInt(price), 1n) }));
const agreed = (...prices: number[]) => agreeing(opinions(...prices), ONE_PERCENT).map(({ price }) => price);

describe('agreement between sources', () => {
  it('takes two at least', () => {
    assert.deepEqual(agreed(), []);
    assert.deepEqual(agreed(3_000), []);
    assert.deepEqual(agreed(3_000, 3_030), [3_000, 3_030]);
  });

  it('is none between two that lie too far apart', () => {
    assert.deepEqual(agreed(3_000, 3_031), []);
    assert.deepEqual(agreed(1, 3_000), []);
  });

  it('leaves out an outlier, at any position', () => {
    assert.deepEqual(agreed(3_000, 1, 3_010), [3_000, 3_010]);
    assert.deepEqual(agreed(6_000, 3_000, 3_010), [3_000, 3_010]);
    assert.deepEqual(agreed(3_000, 3_010, 2_995, 1, 9_999), [3_000, 3_010, 2_995]);
  });

  it('takes no side between two halves', () => {
    assert.deepEqual(agreed(3_000, 3_000, 6_000, 6_000), []);
    assert.deepEqual(agreed(3_000, 3_001, 6_000, 6_100), []);
    assert.deepEqual(agreed(3_000, 3_001, 1, 1, 9_999), []);
  });

  const price = fc
    .bigInt({ min: 1n, max: 10n ** 20n })
    .map((units): { value: Ratio } => ({ value: ratio(units, 100n) }));

  it('is a majority of two or more, or none', () => {
    fc.assert(
      fc.property(fc.array(price, { maxLength: 9 }), fc.integer({ min: 0, max: 5_000 }), (all, limit) => {
        const kept = agreeing(all, limit);
        assert.ok(kept.length === 0 || (kept.length >= 2 && kept.length * 2 > all.length));
      }),
    );
  });

  it('cannot be talked round by fewer liars than honest sources', () => {
    const honest = fc.array(fc.bigInt({ min: 300_000n, max: 300_500n }), { minLength: 3, maxLength: 6 });
    const lie = fc.oneof(fc.bigInt({ min: 1n, max: 250_000n }), fc.bigInt({ min: 360_000n, max: 10n ** 12n }));
    fc.assert(
      fc.property(honest, fc.array(lie, { maxLength: 5 }), fc.infiniteStream(fc.nat()), (good, bad, order) => {
        const all = [...good, ...bad.slice(0, good.length - 1)]
          .map((units) => ({ units, value: ratio(units, 100n), at: order.next().value ?? 0 }))
          .toSorted((a, b) => a.at - b.at);
        const kept = agreeing(all, ONE_PERCENT);
        assert.ok(kept.every(({ units }) => units >= 300_000n && units <= 300_500n));
      }),
    );
  });
});
