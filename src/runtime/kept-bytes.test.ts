import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createKeptBytes } from './kept-bytes.ts';

describe('kept bytes', () => {
  it('have a largest total, and the oldest go first', () => {
    const kept = createKeptBytes(10);
    const bytes = (length: number) => new Uint8Array(length);
    kept.keep('first', bytes(4));
    kept.keep('second', bytes(4));
    kept.keep('first', bytes(4));
    assert.deepEqual([kept.get('first')?.length, kept.get('second')?.length], [4, 4]);
    kept.keep('third', bytes(6));
    assert.deepEqual([kept.get('first'), kept.get('second')?.length, kept.get('third')?.length], [undefined, 4, 6]);
    kept.keep('larger than all', bytes(11));
    for (const name of ['second', 'third', 'larger than all']) assert.equal(kept.get(name), undefined, name);
    kept.keep('next', bytes(10));
    assert.equal(kept.get('next')?.length, 10, 'nothing that went is counted');
  });
});
