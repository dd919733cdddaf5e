import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decimalsOf, minorUnits } from './typed-amount.ts';

describe('an amount', () => {
  it('is read as people type it, and not with separators of thousands', () => {
    const typed = (text: string, decimals = 2) => minorUnits(text, decimals);
    assert.deepEqual([typed('12'), typed(' 12,5 '), typed('0.01'), typed('7', 0)], ['1200', '1250', '1', '7']);
    for (const text of ['', '0', '0.00', '1,000', '1.000', '-1', '1e3', '.5', '1 000'])
      assert.equal(typed(text), undefined);
    assert.deepEqual([decimalsOf('USD'), decimalsOf('JPY')], [2, 0]);
  });
});
