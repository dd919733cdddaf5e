import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IS_LONG } from '../long.ts';
import { searchAll, searchRandom } from './search.ts';

/** `node test/money/small-world.ts --length 5` searches further. */
describe('the small world of money', () => {
  it('loses, doubles, blocks and misdirects nothing, in every sequence of acts', () => {
    const { sequences, faults } = searchAll(IS_LONG ? 4 : 2);
    assert.deepEqual(faults, []);
    assert.ok(sequences > 300);
  });

  it('nor in long sequences', () => {
    assert.deepEqual(searchRandom(IS_LONG ? 100_000 : 500, 12, 1).faults, []);
  });
});
