import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyRing } from './key-ring.ts';
import {
  CHALLENGE_MS,
  CHALLENGE_RANDOM_BYTES,
  type ChallengeUse,
  openChallenge,
  sealChallenge,
} from './passkey-challenge.ts';

const KEYS: KeyRing = [new Uint8Array(32).fill(1)];
const USE: ChallengeUse = { purpose: 'verify', subject: 'ses_1' };
const END_MS = Date.UTC(2026, 0, 1);
const text = Buffer.from(sealChallenge(KEYS, USE, END_MS, new Uint8Array(16).fill(9))).toString('base64url');

describe('a passkey challenge', () => {
  it('opens until its end', () => {
    assert.equal(openChallenge(KEYS, USE, text, END_MS - 1)?.getTime(), END_MS);
    assert.equal(openChallenge(KEYS, USE, text, END_MS), undefined);
  });

  it('contains all of its random bytes, so that no two are the same', () => {
    const random = Uint8Array.from({ length: CHALLENGE_RANDOM_BYTES }, (_, index) => index + 1);
    const hex = Buffer.from(sealChallenge(KEYS, USE, END_MS, random)).toString('hex');
    assert.ok(hex.includes(Buffer.from(random).toString('hex')));
    assert.deepEqual([8 * CHALLENGE_RANDOM_BYTES, hex.length / 2], [128, 6 + 16 + 16]);
    assert.equal(CHALLENGE_MS, 300_000);
  });

  it('opens for its own use alone', () => {
    assert.equal(openChallenge(KEYS, { ...USE, subject: 'ses_2' }, text, 0), undefined);
    assert.equal(openChallenge(KEYS, { ...USE, purpose: 'sign-in' }, text, 0), undefined);
  });

  it('opens under an older key of the ring, and under no other key', () => {
    assert.ok(openChallenge([new Uint8Array(32).fill(2), ...KEYS], USE, text, 0));
    assert.equal(openChallenge([new Uint8Array(32).fill(2)], USE, text, 0), undefined);
  });

  it('does not open after a change', () => {
    for (let index = 0; index < text.length; index += 1) {
      const changed = text.slice(0, index) + (text[index] === 'A' ? 'B' : 'A') + text.slice(index + 1);
      assert.equal(openChallenge(KEYS, USE, changed, 0), undefined);
    }
    assert.equal(openChallenge(KEYS, USE, '', 0), undefined);
  });
});
