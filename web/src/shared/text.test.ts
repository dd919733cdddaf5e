import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clamp, initialsOf, shortAccount } from './text.ts';

describe('text of others', () => {
  it('is cut between characters as people see them, and cannot turn around', () => {
    const family = '👩‍👩‍👧‍👦';
    assert.equal(clamp(family.repeat(256), 3), `${family}${family}…`);
    assert.equal(clamp('a\u202Eb\n\n  c', 10), 'ab c');
  });

  it('is shortened so that one recognises it', () => {
    assert.equal(shortAccount('eip155:1:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed'), '0x5aae…eaed');
    assert.equal(initialsOf('Kaffeehaus Lindqvist & Co'), 'KL');
    assert.equal(initialsOf('\u{1f35e} bread'), 'B');
    assert.equal(initialsOf('***'), '');
  });
});
