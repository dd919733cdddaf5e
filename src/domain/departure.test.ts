import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Departed, departedEntry, missingFilledEntry } from './departure.ts';

const ABOUT = {
  network: 'eip155:1',
  asset: 'eip155:1/slip44:60',
  subject: '0xaa',
  reference: '0x01',
  merchantId: null,
};
const PROOF = { transaction: '0x01', block: 7 };

describe('money that left an account of ours without an order', () => {
  const rows: readonly (readonly [title: string, departed: Departed, lines: Readonly<Record<string, bigint>>])[] = [
    [
      'is charged to fees, the float of the operator and missing money',
      { fees: 5n, operatorFloat: 20n, missing: 100n },
      { fees: -5n, 'intermediate/float/operator': -20n, 'missing/0xaa': -100n, outside: 125n },
    ],
    ['has no line for a part of zero', { fees: 5n, operatorFloat: 0n, missing: 0n }, { fees: -5n, outside: 5n }],
  ];
  for (const [title, departed, lines] of rows) {
    it(title, () => {
      const entry = departedEntry(ABOUT, departed, { ...PROOF, account: '0xaa' });
      assert.deepEqual([entry.kind, entry.transaction, entry.block], ['departed', '0x01', 7]);
      assert.deepEqual(Object.fromEntries(entry.lines.map(({ account, units }) => [account, units])), lines);
    });
  }

  it('is replaced by money of the operator', () => {
    const entry = missingFilledEntry(ABOUT, '0xaa', 100n, PROOF);
    assert.deepEqual([entry.kind, entry.transaction, entry.block], ['float_added', '0x01', 7]);
    assert.deepEqual(entry.lines, [
      { account: 'outside', units: -100n },
      { account: 'missing/0xaa', units: 100n },
    ]);
  });
});
