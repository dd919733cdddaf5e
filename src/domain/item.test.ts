import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ItemKey, type ItemMethod, isAuthorized, isByDeposit, itemKeyOf, possibleKeys } from './item.ts';

describe('the method of an item', () => {
  it('is an authorization, a deposit, both or neither', () => {
    const methods: Record<ItemMethod, readonly [isAuthorized: boolean, isByDeposit: boolean]> = {
      'eip3009-vrs': [false, false],
      'eip3009-bytes': [false, false],
      permit2: [false, false],
      native: [false, false],
      deposit: [false, true],
      'deposit-vrs': [true, true],
      'deposit-bytes': [true, true],
    };
    for (const [method, expected] of Object.entries(methods) as [ItemMethod, readonly boolean[]][]) {
      assert.deepEqual([isAuthorized(method), isByDeposit(method)], expected, method);
    }
  });
});

const PLACE = { network: 'eip155:1', commitment: '0x01' };

describe('the key of an item', () => {
  it('is the commitment, and names the network if another one has taken that', () => {
    assert.equal(itemKeyOf(PLACE), '0x01');
    assert.equal(itemKeyOf(PLACE, { isTaken: true }), '0x01@eip155:1');
    assert.deepEqual(possibleKeys('eip155:1', ['0x01', '0x02']), ['0x01', '0x01@eip155:1', '0x02', '0x02@eip155:1']);
  });

  it('is no commitment to the compiler', () => {
    const name = (key: ItemKey) => key;
    // @ts-expect-error: the hash of an event is no key
    assert.equal(name(PLACE.commitment), '0x01');
  });
});
