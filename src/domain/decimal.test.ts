import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDecimal } from './decimal.ts';

describe('a decimal number in a text', () => {
  const rows: readonly (readonly [text: string, isRead: boolean])[] = [
    ['3', true],
    ['20', true],
    ['2', false],
    ['21', false],
    ['03', false],
    ['+3', false],
    ['3.0', false],
    ['3e0', false],
    [' 3', false],
    ['', false],
  ];
  for (const [text, isRead] of rows) {
    it(`from 3 to 20 is ${isRead ? '' : 'not '}${JSON.stringify(text)}`, () =>
      assert.equal(isDecimal(text, 3, 20), isRead));
  }

  it('has at most 16 digits, because more would be rounded before the comparison', () => {
    assert.ok(isDecimal('1000000000000000', 0, 10 ** 17));
    assert.ok(!isDecimal('10000000000000001', 0, 10 ** 17));
  });
});
