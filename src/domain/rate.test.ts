import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { formatDecimal } from './money.ts';
import {
  compare,
  decimalOf,
  inverse,
  median,
  multiply,
  parsePrice,
  type Rate,
  ratio,
  readRateRecord,
  recordRate,
} from './rate.ts';

describe('prices', () => {
  it('are plain positive decimals, read exactly', () => {
    assert.deepEqual(parsePrice('3500.01000000'), { numerator: 350_001n, denominator: 100n });
    assert.deepEqual(parsePrice('0.0067'), { numerator: 67n, denominator: 10_000n });
    assert.deepEqual(parsePrice('1'), { numerator: 1n, denominator: 1n });
    const wrong = [
      '',
      '0',
      '0.000',
      '-1',
      '+1',
      '01',
      '1.',
      '.5',
      '1e3',
      '1E-7',
      '1,5',
      ' 1',
      '1 ',
      '0x1',
      'NaN',
      '１',
    ];
    for (const text of [...wrong, 'Infinity', '9'.repeat(16), `0.${'1'.repeat(21)}`]) {
      assert.equal(parsePrice(text), undefined, text);
    }
  });

  it('read back as they were written', () => {
    const decimal = fc.record({
      units: fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }),
      decimals: fc.integer({ min: 0, max: 20 }),
    });
    fc.assert(
      fc.property(decimal, ({ units, decimals }) => {
        assert.deepEqual(parsePrice(formatDecimal({ units, decimals })), ratio(units, 10n ** BigInt(decimals)));
      }),
    );
  });
});

describe('rates', () => {
  const ratios = fc
    .tuple(fc.bigInt({ min: 1n, max: 10n ** 30n }), fc.bigInt({ min: 1n, max: 10n ** 30n }))
    .map(([numerator, denominator]) => ratio(numerator, denominator));

  it('are shown as plain decimals with at most eight significant digits', () => {
    const written = (numerator: bigint, denominator: bigint) => decimalOf(ratio(numerator, denominator));
    assert.equal(written(5_001n, 2n), '2500.5');
    assert.equal(written(2_500n, 1n), '2500');
    assert.equal(written(25_000n, 11n), '2272.7273');
    assert.equal(written(10n, 11n), '0.90909091');
    assert.equal(written(1n, 147n), '0.0068027211');
    assert.equal(written(999_999_999n, 1_000_000_000n), '1');
    assert.equal(written(123_456_789_012n, 1n), '123456789012');
    assert.equal(written(1_234_567_890_126n, 10n), '123456789013', 'without a decimal, however many digits');
  });

  it('lose nothing when they are crossed and turned round', () => {
    fc.assert(
      fc.property(ratios, ratios, (a, b) => {
        assert.deepEqual(multiply(multiply(a, b), inverse(b)), a);
        assert.deepEqual(inverse(inverse(a)), a);
      }),
    );
  });

  it('have a median with as many values above it as below', () => {
    assert.deepEqual(median([ratio(3n, 1n), ratio(1n, 1n), ratio(2n, 1n)]), ratio(2n, 1n));
    assert.deepEqual(median([ratio(1n, 1n), ratio(2n, 1n)]), ratio(3n, 2n));
    fc.assert(
      fc.property(fc.array(ratios, { minLength: 1, maxLength: 9 }), (values) => {
        const middle = median(values);
        const below = values.filter((value) => compare(value, middle) < 0).length;
        const above = values.filter((value) => compare(value, middle) > 0).length;
        assert.ok(below * 2 <= values.length && above * 2 <= values.length);
      }),
    );
  });

  it('are read from their record as they were', () => {
    const symbols = fc.stringMatching(/^[A-Z]{2,6}$/);
    fc.assert(
      fc.property(symbols, symbols, ratios, (base, quote, value) => {
        const rate: Rate = { base, quote, value, readings: [] };
        assert.deepEqual(readRateRecord(recordRate(rate)), { base, quote, value });
      }),
    );
    const [one, most] = ['1/1', `${'9'.repeat(200)}/${'9'.repeat(200)}`];
    for (const exact of [one, most]) assert.ok(readRateRecord({ pair: 'A/B', ratio: exact }));
  });

  it('are not read from anything else', () => {
    const wrong = [
      ...['A', 'A/', '/B', 'A/B/C', '', undefined].map((pair) => ({ pair, ratio: '1/2' })),
      ...['1', '1/', '/2', '0/1', '1/0', '01/2', '1/02', '-1/2', '1.5/2', ' 1/2', '1/2 ', '1/2/3', undefined].map(
        (text) => ({ pair: 'A/B', ratio: text }),
      ),
      ...[`1${'0'.repeat(200)}/1`, `1/1${'0'.repeat(200)}`].map((text) => ({ pair: 'A/B', ratio: text })),
    ];
    for (const record of [null, {}, ...wrong]) assert.equal(readRateRecord(record), undefined, JSON.stringify(record));
  });

  it('have no median where there are none', () => {
    assert.throws(() => median([]), /no median of nothing/);
  });
});
