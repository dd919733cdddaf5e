import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { accountsOf, chainOf, transactionPath } from './networks.ts';

describe('networks', () => {
  it('are found in units, and transactions on them', () => {
    assert.equal(chainOf('caip19/eip155:8453/erc20:0x1'), 'eip155:8453');
    assert.equal(chainOf('iso4217/EUR'), undefined);
    assert.equal(transactionPath('eip155:1', '0xab'), '/tx/eip155:1/0xab');
    assert.equal(transactionPath('eip155:1', '../x'), null);
    assert.deepEqual(accountsOf('0x1', { coins: { 'eip155:777': 'OWN' } }), ['eip155:777:0x1']);
  });
});
