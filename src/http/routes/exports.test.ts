import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pageAfter, pageAfterTimeout } from './exports.ts';

describe('the pages of an export', () => {
  it('grow while they are quick, up to 2,000 payments', () => {
    assert.deepEqual([pageAfter(50, 149), pageAfter(1_000, 10), pageAfter(2_000, 10)], [100, 2_000, 2_000]);
  });

  it('shrink while they are slow, down to 50 payments', () => {
    assert.deepEqual([pageAfter(2_000, 150), pageAfter(1_000, 900), pageAfter(60, 900)], [1_000, 500, 50]);
  });

  it('are not raised by a slow page after a timeout made them smaller', () => {
    const reduced = pageAfterTimeout(1_000) ?? 0;
    assert.equal(reduced, 250);
    assert.equal(pageAfter(reduced, 900), 125);
  });

  it('end with the error if the smallest page times out', () => {
    assert.deepEqual([pageAfterTimeout(100), pageAfterTimeout(50)], [50, undefined]);
  });
});
