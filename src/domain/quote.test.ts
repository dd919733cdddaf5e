import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  convertRoundedDown,
  convertRoundedUp,
  feeInToken,
  type QuoteInput,
  quoteFor,
  ratePairOf,
  roundUpToQuoteDecimals,
} from './quote.ts';
import { compare, parsePrice, type Rate, type Ratio, ratio, recordRate } from './rate.ts';

const USDC = {
  id: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  symbol: 'USDC',
  decimals: 6,
  quoteDecimals: 2,
  peg: 'USD',
};
const EURC = {
  id: 'eip155:8453/erc20:0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42',
  symbol: 'EURC',
  decimals: 6,
  quoteDecimals: 2,
  peg: 'EUR',
};
const ETHER = { decimals: 18, quoteDecimals: 6 };
const ETH = { id: 'eip155:8453/slip44:60', symbol: 'ETH', ...ETHER };
const WETH = {
  id: 'eip155:8453/erc20:0x4200000000000000000000000000000000000006',
  symbol: 'WETH',
  ratedAs: 'ETH',
  ...ETHER,
};

const usd = (value: bigint) => ({ unit: 'iso4217/USD', value, decimals: 2 });
const AT_MS = Date.UTC(2026, 2, 1);

function rateOf(base: string, quote: string, price: string): Rate {
  const value = parsePrice(price);
  assert.ok(value);
  return { base, quote, value, readings: [{ source: 'somewhere', base, quote, price, atMs: AT_MS }] };
}

function quoted(input: QuoteInput) {
  const quote = quoteFor(input);
  assert.ok(quote);
  return quote;
}

describe('a quote', () => {
  it('takes a pegged token at par in its own currency, without a rate', () => {
    const quote = quoted({ price: usd(1_234n), asset: USDC, rate: undefined });
    assert.deepEqual([quote.amount, quote.rate], [12_340_000n, null]);
    const euros = { unit: 'iso4217/EUR', value: 100n, decimals: 2 };
    assert.equal(quoteFor({ price: euros, asset: EURC, rate: undefined })?.amount, 1_000_000n);
  });

  it('supports a token of fewer decimals than its currency, and rounds up', () => {
    const coarse = { ...USDC, decimals: 0 };
    assert.equal(quoteFor({ price: usd(1_201n), asset: coarse, rate: undefined })?.amount, 13n);
    assert.equal(quoteFor({ price: usd(1_200n), asset: coarse, rate: undefined })?.amount, 12n);
  });

  it('takes a pegged token in another currency only with the rate of the two', () => {
    assert.deepEqual(ratePairOf(usd(1n), EURC), { base: 'EUR', quote: 'USD' });
    assert.equal(quoteFor({ price: usd(1_000n), asset: EURC, rate: undefined }), undefined);
    const rate = rateOf('EUR', 'USD', '1.25');
    const quote = quoted({ price: usd(1_000n), asset: EURC, rate });
    assert.deepEqual([quote.amount, quote.rate], [8_000_000n, rate]);
  });

  it('takes a coin only with its rate, and a wrapped coin with that of the coin', () => {
    assert.deepEqual(ratePairOf(usd(1n), WETH), { base: 'ETH', quote: 'USD' });
    const rate = rateOf('ETH', 'USD', '3000.00');
    for (const asset of [ETH, WETH]) {
      assert.equal(quoteFor({ price: usd(100n), asset, rate: undefined }), undefined);
      assert.equal(quoteFor({ price: usd(100n), asset, rate })?.amount, 334_000_000_000_000n);
    }
  });

  it('is rounded up to the quote decimals of the asset', () => {
    const euros = rateOf('EUR', 'USD', '1.04');
    assert.equal(quoteFor({ price: usd(1_485n), asset: EURC, rate: euros })?.amount, 14_280_000n);
    const ether = rateOf('ETH', 'USD', '2563.19');
    assert.equal(quoteFor({ price: usd(3_299n), asset: ETH, rate: ether })?.amount, 12_871_000_000_000_000n);
    const exact = { ...EURC, quoteDecimals: 6 };
    assert.equal(quoteFor({ price: usd(1_485n), asset: exact, rate: euros })?.amount, 14_278_847n);
  });

  it('keeps more decimals where rounding would add more than a hundredth', () => {
    const rate = rateOf('EUR', 'USD', '1.1');
    const amountOf = (cents: bigint) => quoteFor({ price: usd(cents), asset: EURC, rate })?.amount;
    assert.equal(amountOf(1n), 9_100n, 'one cent is 0.0091 euros, not 0.01');
    assert.equal(amountOf(50n), 455_000n);
    assert.equal(amountOf(120n), 1_100_000n);
    const cents = (amount: bigint) => roundUpToQuoteDecimals(amount, { decimals: 6, quoteDecimals: 2 });
    assert.equal(cents(1_000_001n), 1_010_000n, 'a hundred steps and more are rounded to a step');
    assert.equal(cents(998_001n), 999_000n, 'less to a tenth of a step');
  });

  it('carries its rate, which is recorded with its sources and times as JSON', () => {
    const { rate } = quoted({ price: usd(100n), asset: ETH, rate: rateOf('ETH', 'USD', '2500.50') });
    assert.ok(rate);
    assert.deepEqual(JSON.parse(JSON.stringify(recordRate(rate))), {
      pair: 'ETH/USD',
      ratio: '5001/2',
      readings: [{ source: 'somewhere', pair: 'ETH/USD', price: '2500.50', atS: AT_MS / 1000 }],
    });
  });

  it('leaves a price in the token as it is, to its smallest unit, and offers no other token for it', () => {
    const price = { unit: `caip19/${USDC.id}`, value: 7n, decimals: 6 };
    assert.equal(ratePairOf(price, USDC), undefined);
    const quote = quoted({ price, asset: USDC, rate: undefined });
    assert.equal(quote.amount, 7n);
    assert.equal(feeInToken(quote, 3n), 3n);
    assert.equal(quoteFor({ price, asset: EURC, rate: undefined }), undefined);
    assert.equal(quoteFor({ price, asset: ETH, rate: rateOf('ETH', 'USD', '1') }), undefined);
  });

  it('refuses the rate of another pair, or of the pair turned round', () => {
    for (const rate of [rateOf('EUR', 'USD', '1.1'), rateOf('USD', 'ETH', '0.0003')]) {
      assert.throws(() => quoteFor({ price: usd(1n), asset: ETH, rate }), /was given the rate of/);
    }
  });

  it('is none when the amount is more than a token can count', () => {
    const rate = rateOf('ETH', 'USD', `0.${'0'.repeat(19)}1`);
    assert.equal(quoteFor({ price: usd(10n ** 60n), asset: ETH, rate }), undefined);
    const most = 2n ** 256n - 1n;
    const priced = (value: bigint) =>
      quoteFor({ price: { unit: `caip19/${ETH.id}`, value, decimals: 18 }, asset: ETH, rate: undefined });
    assert.equal(priced(most)?.amount, most);
    assert.equal(priced(most + 1n), undefined);
  });
});

const ratios = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 40n }), fc.bigInt({ min: 1n, max: 10n ** 40n }))
  .map(([numerator, denominator]) => ratio(numerator, denominator));
const values = fc.bigInt({ min: 1n, max: 10n ** 30n });

describe('conversion', () => {
  it('up is never below the exact value and less than one unit above it', () => {
    fc.assert(
      fc.property(values, ratios, (value, factor) => {
        const [amount, exact] = [convertRoundedUp(value, factor), value * factor.numerator];
        assert.ok(amount * factor.denominator >= exact);
        assert.ok((amount - 1n) * factor.denominator < exact);
      }),
    );
  });

  it('down is never above the exact value and less than one unit below it', () => {
    fc.assert(
      fc.property(values, ratios, (value, factor) => {
        const [amount, exact] = [convertRoundedDown(value, factor), value * factor.numerator];
        assert.ok(amount * factor.denominator <= exact);
        assert.ok((amount + 1n) * factor.denominator > exact);
      }),
    );
  });

  it('to the quote decimals of an asset adds less than one step, and at most a hundredth', () => {
    const asset = fc.record({
      decimals: fc.integer({ min: 0, max: 18 }),
      quoteDecimals: fc.option(fc.integer({ min: 0, max: 18 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(values, values, asset, (amount, more, { decimals, quoteDecimals = decimals }) => {
        const rounded = roundUpToQuoteDecimals(amount, { decimals, quoteDecimals });
        const step = 10n ** BigInt(Math.max(0, decimals - quoteDecimals));
        assert.ok(rounded >= amount && rounded - amount < step);
        assert.ok((rounded - amount) * 100n <= amount);
        assert.ok(amount < 100n * step || rounded % step === 0n);
        assert.ok(roundUpToQuoteDecimals(amount + more, { decimals, quoteDecimals }) >= rounded);
      }),
    );
  });

  it('of more is never less', () => {
    fc.assert(
      fc.property(values, values, ratios, (value, more, factor) => {
        assert.ok(convertRoundedUp(value + more, factor) >= convertRoundedUp(value, factor));
        assert.ok(convertRoundedDown(value + more, factor) >= convertRoundedDown(value, factor));
      }),
    );
  });

  it('asks for at least one unit, however little the price', () => {
    fc.assert(fc.property(values, ratios, (value, factor) => convertRoundedUp(value, factor) >= 1n));
  });

  it('gives the merchant at least the exact price less the exact fee, and never takes a fee above the amount', () => {
    const rate = (value: Ratio): Rate => ({ base: 'ETH', quote: 'USD', value, readings: [] });
    const decimals = fc.integer({ min: 0, max: 18 });
    const percent = fc.bigInt({ min: 0n, max: 100n });
    fc.assert(
      fc.property(values, percent, ratios, decimals, (value, part, cost, places) => {
        const quote = quoteFor({
          price: usd(value),
          asset: { ...ETH, decimals: places, quoteDecimals: 2 },
          rate: rate(cost),
        });
        if (quote === undefined) return;
        const priceFee = (value * part) / 100n;
        const fee = feeInToken(quote, priceFee);
        assert.ok(fee >= 0n && fee <= quote.amount);
        const { numerator, denominator } = quote.factor;
        assert.ok((quote.amount - fee) * denominator >= (value - priceFee) * numerator);
      }),
    );
  });

  it('never takes more than the amount, whatever the fee', () => {
    const quote = quoted({ price: usd(100n), asset: USDC, rate: undefined });
    assert.equal(feeInToken(quote, 500n), quote.amount);
    assert.equal(feeInToken(quote, 0n), 0n);
  });

  it('of a dearer token asks for no more of it', () => {
    fc.assert(
      fc.property(values, ratios, ratios, (value, one, other) => {
        const amountAt = (cost: Ratio) =>
          quoteFor({
            price: usd(value),
            asset: ETH,
            rate: { base: 'ETH', quote: 'USD', value: cost, readings: [] },
          })?.amount ?? 2n ** 256n;
        const [low, high] = compare(one, other) <= 0 ? [one, other] : [other, one];
        assert.ok(amountAt(high) <= amountAt(low));
      }),
    );
  });
});
