import assert from 'node:assert/strict';
import { it } from 'node:test';
import { familyOf, findFamily } from './families.ts';

it('the family of a network is that of its CAIP-2 namespace', () => {
  assert.equal(familyOf('eip155:1'), familyOf('eip155:8453'));
  for (const id of ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'cosmos:hub', 'eip155', '']) {
    assert.throws(() => familyOf(id), RangeError, id);
    assert.equal(findFamily(id), undefined, id);
  }
});
