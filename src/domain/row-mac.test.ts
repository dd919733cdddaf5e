import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRowMac, type MacFields, macOfRow } from './row-mac.ts';

const OLD = new Uint8Array(32).fill(1);
const NEW = new Uint8Array(32).fill(2);
const ROW = { id: 'pout_1', recipient: '0xab', amount: '10', merchantId: null };

describe('the MAC of a row', () => {
  const mac = macOfRow([OLD], 'outgoing', ROW);

  it('is right for the same fields in any order, under any key of the ring', () => {
    const { amount, ...rest } = ROW;
    assert.equal(isRowMac([OLD], 'outgoing', { amount, ...rest }, mac), true);
    assert.equal(isRowMac([NEW, OLD], 'outgoing', ROW, mac), true);
  });

  it('is wrong for every other row, table and key, and where there is none', () => {
    const changes: readonly MacFields[] = [{ amount: '100' }, { recipient: '0xcd' }, { merchantId: '' }, { more: 'x' }];
    for (const change of changes) {
      assert.equal(isRowMac([OLD], 'outgoing', { ...ROW, ...change }, mac), false, JSON.stringify(change));
    }
    assert.equal(isRowMac([OLD], 'payouts', ROW, mac), false);
    assert.equal(isRowMac([NEW], 'outgoing', ROW, mac), false);
    for (const text of [null, '', 'AAAA', `${mac}AA`]) assert.equal(isRowMac([OLD], 'outgoing', ROW, text), false);
  });
});
