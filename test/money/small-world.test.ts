import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IS_LONG } from '../long.ts';
import { after } from './acts.ts';
import { faultIn } from './oracle.ts';
import { searchAll, searchRandom } from './search.ts';
import { firstWorld, read } from './world.ts';

/** `node test/money/small-world.ts --length 5` searches further. */
describe('the small world of money', () => {
  it('loses, doubles, blocks and misdirects nothing, in every sequence of acts', () => {
    const { sequences, faults } = searchAll(IS_LONG ? 4 : 2);
    assert.deepEqual(faults, []);
    assert.ok(sequences > 300);
  });

  it('takes no lot of another asset for a transfer whose own lot has left the chain, when it is rebuilt', () => {
    let world = read(firstWorld());
    for (const name of ['floatAdd', 'walletPaysOtherToken', 'x402', 'return', 'reorgLoss', 'rebuild']) {
      const next = after(world, name);
      assert.equal(faultIn(next, world), undefined, name);
      world = next;
    }
  });

  it('nor in long sequences', () => {
    assert.deepEqual(searchRandom(IS_LONG ? 100_000 : 500, 12, 1).faults, []);
  });
});
