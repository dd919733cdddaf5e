import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ItemMethod, isAuthorized, isByDeposit } from './item.ts';

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
