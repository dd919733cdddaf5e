import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createByteCache } from './byte-cache.ts';

describe('cache bytes', () => {
  it('have a largest total, and the oldest go first', () => {
    const cache = createByteCache(10);
    const bytes = (length: number) => new Uint8Array(length);
    cache.put('first', bytes(4));
    cache.put('second', bytes(4));
    cache.put('first', bytes(4));
    assert.deepEqual([cache.get('first')?.length, cache.get('second')?.length], [4, 4]);
    cache.put('third', bytes(6));
    assert.deepEqual([cache.get('first'), cache.get('second')?.length, cache.get('third')?.length], [undefined, 4, 6]);
    cache.put('larger than all', bytes(11));
    for (const name of ['second', 'third', 'larger than all']) assert.equal(cache.get(name), undefined, name);
    cache.put('next', bytes(10));
    assert.equal(cache.get('next')?.length, 10, 'nothing that went is counted');
  });
});
