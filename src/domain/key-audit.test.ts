import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AuditedKey, auditKey } from './key-audit.ts';

const NOW = new Date('2026-11-15T12:00:00Z');
const DAY_MS = 86_400_000;
const LIMITS = { unusedMs: 90 * DAY_MS, oldMs: 365 * DAY_MS, endingMs: 30 * DAY_MS };
const days = (count: number) => new Date(NOW.getTime() + count * DAY_MS);

/** A key that an audit has nothing to say about. */
const GOOD: AuditedKey = {
  scopes: ['payments:write'],
  addresses: ['203.0.113.0/24'],
  createdAt: days(-10),
  expiresAt: days(355),
  lastUsedAt: days(-1),
};

describe('an audit of keys', () => {
  it('finds nothing about a key with limits, an end and a purpose', () => {
    assert.deepEqual(auditKey(GOOD, NOW, LIMITS), []);
  });

  it('names everything that is wrong with a key', () => {
    const cases: [change: Partial<AuditedKey>, findings: string[]][] = [
      [{ lastUsedAt: null }, []],
      [{ lastUsedAt: null, createdAt: days(-90) }, ['never_used']],
      [{ lastUsedAt: days(-90), createdAt: days(-100) }, ['unused']],
      [{ createdAt: days(-365) }, ['old']],
      [{ createdAt: days(-364) }, []],
      [{ expiresAt: null }, ['no_expiry']],
      [{ expiresAt: days(30) }, ['ends_soon']],
      [{ expiresAt: days(31) }, []],
      [{ scopes: null }, ['every_scope']],
      [{ addresses: null }, ['any_address']],
      [
        { scopes: null, addresses: null, expiresAt: null, lastUsedAt: null, createdAt: days(-400) },
        ['never_used', 'old', 'no_expiry', 'every_scope', 'any_address'],
      ],
    ];
    for (const [change, findings] of cases) {
      assert.deepEqual(auditKey({ ...GOOD, ...change }, NOW, LIMITS), findings, JSON.stringify(change));
    }
  });
});
