import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inboxOf } from './inbox.ts';

describe('the inbox of an address', () => {
  it('is the same for all spellings of it, and for no other', () => {
    for (const spelling of [
      'ann.lee@example.com',
      'AnnLee@Example.com',
      'annlee+shop@example.com',
      'a.n.n.lee+a+b@example.com',
    ]) {
      assert.equal(inboxOf(spelling), 'annlee@example.com', spelling);
    }
    assert.notEqual(inboxOf('annlee@example.org'), 'annlee@example.com');
    assert.equal(inboxOf('ann@mail.example.com'), 'ann@mail.example.com');
  });
});
