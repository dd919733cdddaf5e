import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Item,
  type ItemKey,
  type ItemMethod,
  isAuthorized,
  isByDeposit,
  itemKeyOf,
  ownPayment,
  possibleKeys,
} from './item.ts';

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

describe('the own payment of a payer', () => {
  const signed = (method: ItemMethod) => {
    const item: Item = {
      ...{ network: 'eip155:1', collector: '0xc0', asset: 'eip155:1/slip44:60', method, subject: 'pay_1' },
      ...{ payer: '0x01', recipient: '0x02', feeAccount: '0x03', amount: 10n, fee: 1n, deadlineS: 1 },
    };
    return { item, commitment: '0x01', signature: '0x', hasCode: false };
  };
  const [coin, token] = [signed('native'), signed('permit2')];

  it('is in native coin, and alone in its batch', () => {
    assert.equal(ownPayment([coin]), coin.item);
    for (const batch of [[], [token], [coin, coin], [coin, token]]) assert.equal(ownPayment(batch), undefined);
  });
});
