import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isLinkSecret, linkSecret } from './link-secret.ts';

const OLD = new Uint8Array(32).fill(1);
const NEW = new Uint8Array(32).fill(2);

describe('the secret of an address', () => {
  it('is that of its text alone, and stays valid after a rotation', () => {
    const secret = linkSecret([OLD], 'receipt of a');
    assert.equal(isLinkSecret([NEW, OLD], 'receipt of a', secret), true);
    assert.equal(isLinkSecret([NEW], 'receipt of a', secret), false);
    assert.equal(isLinkSecret([OLD], 'receipt of b', secret), false);
    assert.notEqual(linkSecret([NEW, OLD], 'receipt of a'), secret);
  });

  it('stays the same in later versions, because links are kept in mails', () => {
    assert.equal(linkSecret([OLD], 'receipt of a'), 'dqHCHiIMzIyo98_2HqLGXQ');
  });

  it('has one spelling', () => {
    const secret = linkSecret([OLD], 'a');
    const last = secret.at(-1) ?? '';
    const sibling = String.fromCharCode(last.charCodeAt(0) + 1);
    for (const other of ['', `${secret}=`, `${secret}A`, secret.slice(0, -1) + sibling, ` ${secret}`]) {
      assert.equal(isLinkSecret([OLD], 'a', other), false, other);
    }
  });
});
