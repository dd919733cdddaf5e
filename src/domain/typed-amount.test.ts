import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { typedUnits } from './typed-amount.ts';

describe('an amount that a person types', () => {
  const rows = [
    ['12', 2, 1200n],
    [' 12.5 ', 2, 1250n],
    ['12,50', 2, 1250n],
    ['0.01', 2, 1n],
    ['١٢٫٥', 2, 1250n],
    ['１２', 0, 12n],
    ['1.500', 3, 1500n],
    ['1500.250', 3, 1_500_250n],
    ['1.5', 3, 1500n],
    ['1.50', 3, 1500n],
    ['1.5000', 4, 15_000n],
    ['1,500', 3, undefined],
    ['1,000', 2, undefined],
    ['1.000', 2, undefined],
    ['12.5', 0, undefined],
    ['1,000.00', 2, undefined],
    ['1e3', 2, undefined],
    ['-1', 2, undefined],
    ['+1', 2, undefined],
    ['0x10', 2, undefined],
    ['.5', 2, undefined],
    ['5.', 2, undefined],
    ['', 2, undefined],
    ['9'.repeat(81), 2, undefined],
    ['9'.repeat(31), 2, undefined],
    ['9'.repeat(30), 0, BigInt('9'.repeat(30))],
    [`${' '.repeat(79)}7`, 0, 7n],
    [`${' '.repeat(80)}7`, 0, undefined],
    ['٠١٢٣٤٥٦٧٨٩', 0, 123_456_789n],
    ['۰۱۲۳۴۵۶۷۸۹', 0, 123_456_789n],
    ['０１２３４５６７８９', 0, 123_456_789n],
    // The characters beside the digits.
    ...['\u065f', '\u066a', '\u06ef', '\u06fa', '\uff0f', '\uff1a'].map((text) => [`1${text}`, 0, undefined] as const),
    ['0', 2, 0n],
    ['0.000001', 6, 1n],
    // One thousand of a token is not one.
    ['1,000', 6, undefined],
    ['1.000', 6, undefined],
    ['١٫٠٠٠', 6, undefined],
    ['999.999', 6, undefined],
    ['1.0', 6, 1_000_000n],
    ['1.0000', 6, 1_000_000n],
    ['1000', 6, 1_000_000_000n],
    ['1234.567', 6, undefined],
    ['1234.5670', 6, 1_234_567_000n],
    ['1234,567', 3, undefined],
    // Nobody begins a thousand with zero.
    ['0.123', 6, 123_000n],
    ['0,123', 6, 123_000n],
    ['00.123', 6, 123_000n],
    ['01.123', 6, 1_123_000n],
    ['0,123', 3, 123n],
    ['0,123', 2, undefined],
  ] as const;
  for (const [text, decimals, units] of rows) {
    it(`“${text}” with ${decimals} decimals is ${units ?? 'refused'}`, () =>
      assert.equal(typedUnits(text, decimals), units));
  }
});
