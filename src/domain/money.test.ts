import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { fiatCodeOf, findCurrency, parseFiatUnit } from './currency.ts';
import {
  addDecimals,
  decimalText,
  formatDecimal,
  formatForPeople,
  parseDecimal,
  parseUnits,
  scaledTo,
} from './money.ts';

describe('amounts', () => {
  it('are whole numbers of minor units, spelled one way', () => {
    assert.equal(parseUnits('1000'), 1000n);
    assert.equal(parseUnits('9'.repeat(78)), 10n ** 78n - 1n);
    for (const wrong of ['', '0', '007', '-1', '+1', '1.5', '1e3', ' 1', '1 ', '１２', '0x1', '9'.repeat(79)]) {
      assert.equal(parseUnits(wrong), undefined, wrong);
    }
  });

  it('read back as they were written', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 78n - 1n }), (units) => parseUnits(units.toString()) === units),
    );
  });

  it('are shown in major units without rounding', () => {
    assert.equal(decimalText('1234', 2), '12.34');
    assert.equal(decimalText('5', 2), '0.05');
    assert.equal(decimalText(-100n, 0), '-100');
    assert.equal(decimalText('0', 18), `0.${'0'.repeat(18)}`);
    assert.equal(formatDecimal({ units: 1250n, decimals: 2 }), '12.5');
    assert.equal(formatDecimal({ units: 5n, decimals: 3 }), '0.005');
    assert.equal(formatDecimal({ units: 1000n, decimals: 0 }), '1000');
    assert.equal(formatDecimal({ units: 0n, decimals: 2 }), '0');
    assert.equal(formatDecimal({ units: -105n, decimals: 2 }), '-1.05');
  });

  it('are shown to people with two decimals at least, where the unit has them', () => {
    const shown = (units: bigint, decimals: number) => formatForPeople({ units, decimals });
    assert.deepEqual([shown(1_250n, 2), shown(1_200n, 2), shown(1_205n, 2)], ['12.50', '12.00', '12.05']);
    assert.deepEqual([shown(12_500_000n, 6), shown(12_345_600n, 6), shown(4n, 3)], ['12.50', '12.3456', '0.004']);
    assert.deepEqual([shown(125n, 1), shown(7n, 0), shown(-1_250n, 2)], ['12.5', '7', '-12.50']);
  });

  it('are read in major units without rounding, spelled plainly', () => {
    assert.deepEqual(parseDecimal('12.50'), { units: 1250n, decimals: 2 });
    assert.deepEqual(parseDecimal('007'), { units: 7n, decimals: 0 });
    for (const wrong of ['', '.', '.5', '5.', '-1', '+1', '1e3', ' 1', '1,5', '1.2.3', '0x1', '１']) {
      assert.equal(parseDecimal(wrong), undefined, wrong);
    }
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 60n }), fc.integer({ min: 0, max: 30 }), (units, decimals) => {
        const read = parseDecimal(formatDecimal({ units, decimals }));
        return read !== undefined && scaledTo(read, decimals) === units;
      }),
    );
  });

  it('add up exactly, whatever their decimals', () => {
    const decimal = fc.record({
      units: fc.bigInt({ min: 0n, max: 10n ** 60n }),
      decimals: fc.integer({ min: 0, max: 18 }),
    });
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const sum = addDecimals(a, b);
        const at18 = ({ units, decimals }: typeof a) => units * 10n ** BigInt(18 - decimals);
        assert.equal(at18(sum), at18(a) + at18(b));
        assert.match(formatDecimal(sum), /^(0|[1-9]\d*)(\.\d*[1-9])?$/);
      }),
    );
    assert.equal(formatDecimal(addDecimals({ units: 1n, decimals: 1 }, { units: 2n, decimals: 1 })), '0.3');
  });
});

describe('currencies', () => {
  it('have their true number of decimals', () => {
    const decimals = Object.fromEntries(
      ['JPY', 'USD', 'EUR', 'KWD', 'IQD', 'XOF', 'XCD'].map((code) => [code, findCurrency(code)?.decimals]),
    );
    assert.deepEqual(decimals, { JPY: 0, USD: 2, EUR: 2, KWD: 3, IQD: 3, XOF: 0, XCD: 2 });
  });

  it('are units of amounts', () => {
    const parsed = parseFiatUnit('iso4217/KWD');
    assert.deepEqual(parsed.ok && [parsed.value.code, parsed.value.decimals], ['KWD', 3]);
    for (const wrong of ['USD', 'iso4217/', 'iso4217/usd', 'iso4217/XAU', 'ISO4217/USD', 'caip19/iso4217/USD']) {
      assert.equal(parseFiatUnit(wrong).ok, false, wrong);
    }
    assert.equal(fiatCodeOf('caip19/eip155:1/slip44:60'), undefined);
  });

  it('are money: metals, funds and test codes are not, nor are other spellings', () => {
    for (const code of ['XAU', 'XTS', 'XXX', 'CLF', 'ZZZ', 'usd', 'US', ''])
      assert.equal(findCurrency(code), undefined);
  });
});
