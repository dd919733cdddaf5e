import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leastPaid, transferUri } from './deposit.ts';

describe('the money of a deposit address', () => {
  it('may be a little less than asked, rounded in favour of the merchant', () => {
    assert.equal(leastPaid(1_000n, 0), 1_000n);
    assert.equal(leastPaid(1_000n, 50), 995n);
    assert.equal(leastPaid(99n, 100), 99n);
  });

  it('is asked for by a link as EIP-681 writes it', () => {
    const uri = transferUri({ token: '0xToken', chainNumber: '8453', address: '0xDeposit', amount: 10_000_000n });
    assert.equal(uri, 'ethereum:0xToken@8453/transfer?address=0xDeposit&uint256=10000000');
  });
});
