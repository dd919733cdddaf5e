import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { amountFor, closedReason, refusalOfStock } from './payment-link.ts';

describe('a payment link', () => {
  const open = { status: 'active', expiresAt: null, stock: null, taken: null } as const;
  const rows = [
    ['takes payments without an end', open, undefined],
    ['takes payments while pieces are left', { ...open, stock: 2, taken: 1 }, undefined],
    ['takes payments before its expiry', { ...open, expiresAt: new Date(1_001) }, undefined],
    ['takes none when it is inactive', { ...open, status: 'inactive', stock: 1, taken: 1 }, 'inactive'],
    ['takes none from its expiry on', { ...open, expiresAt: new Date(1_000) }, 'expired'],
    ['takes none when all pieces are taken', { ...open, stock: 2, taken: 2 }, 'sold_out'],
    ['takes none when the stock was lowered below the pieces taken', { ...open, stock: 1, taken: 2 }, 'sold_out'],
  ] as const;
  for (const [title, link, reason] of rows) {
    it(title, () => assert.equal(closedReason(link, 1_000), reason));
  }

  it('gives no piece of a limited stock away that is sold out or uncertain after a restore', () => {
    const known = [
      { stock: null, taken: null, isUncertain: false },
      { stock: null, taken: null, isUncertain: true },
      { stock: 2, taken: 1, isUncertain: false },
      { stock: 2, taken: 1, isUncertain: true },
      { stock: 2, taken: 2, isUncertain: false },
      { stock: 2, taken: 2, isUncertain: true },
    ];
    const expected = [undefined, undefined, undefined, 'stock_uncertain', 'sold_out', 'sold_out'];
    assert.deepEqual(known.map(refusalOfStock), expected);
  });

  it('has its own price, or one between its bounds', () => {
    assert.equal(amountFor({ value: 1000n }, '99', 2), 1000n);
    const chosen = { minimum: 100n, maximum: 2_000n };
    const amounts = ['1', '20', '0.99', '20.01', '', '-5'].map((typed) => amountFor(chosen, typed, 2));
    assert.deepEqual(amounts, [100n, 2_000n, undefined, undefined, undefined, undefined]);
  });
});
