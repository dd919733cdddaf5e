import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { idBytes, isId } from './ids.ts';
import { type UnexpectedPlace, unexpectedId } from './unexpected-money.ts';

const PLACE: UnexpectedPlace = { network: 'eip155:1', transactionHash: '0xab', logIndex: 3, source: '0xsender' };

describe('the id of unexpected money', () => {
  it('is the first half of a hash of its place, but for the mark in front', () => {
    const hash = createHash('sha256').update('eip155:1 0xab 3 0xsender').digest();
    assert.ok(isId('stry_', unexpectedId(PLACE)));
    const [id, expected] = [Buffer.from(idBytes(unexpectedId(PLACE))), hash.subarray(0, 16)];
    assert.equal(id.toString('hex').slice(1), expected.toString('hex').slice(1));
  });

  it('is another for every other place', () => {
    const changes = [{ network: 'eip155:2' }, { transactionHash: '0xac' }, { logIndex: 4 }, { source: '0xother' }];
    const ids = [PLACE, ...changes.map((change) => ({ ...PLACE, ...change }))].map(unexpectedId);
    assert.equal(new Set(ids).size, ids.length);
  });
});
