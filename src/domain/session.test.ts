import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  IDLE_MS,
  isSessionOver,
  isVerified,
  LINK_MS,
  LINK_SESSION_MS,
  SESSION_MS,
  TOKEN_BYTES,
  VERIFIED_MS,
} from './session.ts';

const START_MS = Date.UTC(2026, 0, 1);
const at = (ms: number) => new Date(START_MS + ms);
const session = (usedMs: number, endedAt: Date | null = null) => ({
  expiresAt: at(SESSION_MS),
  lastUsedAt: at(usedMs),
  endedAt,
});

describe('a session', () => {
  it('has the times that the documentation promises, and a token of 256 bits', () => {
    const hour = 3_600_000;
    assert.deepEqual(
      { IDLE_MS, SESSION_MS, LINK_SESSION_MS, VERIFIED_MS, LINK_MS },
      {
        ...{ IDLE_MS: 12 * hour, SESSION_MS: 168 * hour, LINK_SESSION_MS: 12 * hour },
        ...{ VERIFIED_MS: hour / 12, LINK_MS: 72 * hour },
      },
    );
    assert.equal(8 * TOKEN_BYTES, 256);
  });

  it('ends when it was not used for the idle time', () => {
    assert.equal(isSessionOver(session(0), START_MS + IDLE_MS - 1), false);
    assert.equal(isSessionOver(session(0), START_MS + IDLE_MS), true);
  });

  it('ends at its greatest age, however much it is used', () => {
    assert.equal(isSessionOver(session(SESSION_MS - 1), START_MS + SESSION_MS - 1), false);
    assert.equal(isSessionOver(session(SESSION_MS - 1), START_MS + SESSION_MS), true);
  });

  it('is over once it was ended', () => {
    assert.equal(isSessionOver(session(0, at(1)), START_MS + 1), true);
  });

  it('is verified for a few minutes after the passkey', () => {
    assert.equal(isVerified({ verifiedAt: at(0) }, START_MS + VERIFIED_MS - 1), true);
    assert.equal(isVerified({ verifiedAt: at(0) }, START_MS + VERIFIED_MS), false);
  });
});
