import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isWithinLimits, ROLES, refundLimitOf, rightsOf } from './role.ts';

const has = (role: (typeof ROLES)[number], right: string, belongsTo: 'operator' | 'partner' = 'partner') =>
  (rightsOf({ role, belongsTo }) as readonly string[]).includes(right);

describe('the rights of a role', () => {
  it('let owners alone manage people, read the audit log and change destinations', () => {
    for (const right of ['people:write', 'audit:read', 'destinations:write', 'merchants:write']) {
      assert.deepEqual(
        ROLES.filter((role) => has(role, right)),
        ['owner'],
        right,
      );
    }
  });

  it('let owners and support refund, and nobody else', () => {
    assert.deepEqual(
      ROLES.filter((role) => has(role, 'refunds:write')),
      ['owner', 'support'],
    );
  });

  it('keep a cashier to payments', () => {
    assert.deepEqual(rightsOf({ role: 'cashier', belongsTo: 'merchant' }), ['self', 'payments:read', 'payments:write']);
  });

  it('give everybody their own session', () => {
    assert.deepEqual(
      ROLES.filter((role) => !has(role, 'self') || !has(role, 'self', 'operator')),
      [],
    );
  });

  it('let people of the operator change nothing of a partner but its people', () => {
    const writing = ROLES.flatMap((role) => rightsOf({ role, belongsTo: 'operator' })).filter((right) =>
      right.endsWith(':write'),
    );
    assert.deepEqual(writing, ['people:write']);
    const abroad = ROLES.flatMap((role) => rightsOf({ role, belongsTo: 'operator' }, { isAbroad: true }));
    assert.deepEqual(
      abroad.filter((right) => right.endsWith(':write')),
      [],
      'and nothing at all where they name a partner',
    );
    assert.ok(abroad.includes('payments:read') && abroad.includes('people:read'));
  });

  it('let everybody of the operator but cashiers see the gateway itself, and nobody of a partner', () => {
    assert.deepEqual(
      ROLES.filter((role) => !has(role, 'operator:read', 'operator')),
      ['cashier'],
    );
    assert.deepEqual(
      ROLES.filter((role) => has(role, 'operator:read')),
      [],
    );
  });
});

describe('refund limits', () => {
  const limits = [{ unit: 'iso4217/USD', value: '10000' }];

  it('include the limit itself, and nothing above it', () => {
    assert.equal(isWithinLimits(limits, { unit: 'iso4217/USD', value: '10000' }), true);
    assert.equal(isWithinLimits(limits, { unit: 'iso4217/USD', value: '10001' }), false);
  });

  it('compare whole numbers of any length', () => {
    const huge = [{ unit: 'iso4217/USD', value: '9007199254740993' }];
    assert.equal(isWithinLimits(huge, { unit: 'iso4217/USD', value: '9007199254740994' }), false);
  });

  it('allow nothing in a unit that has no limit', () => {
    assert.equal(isWithinLimits(limits, { unit: 'iso4217/EUR', value: '1' }), false);
    assert.equal(isWithinLimits([], { unit: 'iso4217/USD', value: '1' }), false);
  });

  it('bind support alone, whose limit is zero in a unit without one', () => {
    const support = { role: 'support', refundLimits: limits } as const;
    assert.equal(refundLimitOf(support, 'iso4217/USD'), 10_000n);
    assert.equal(refundLimitOf(support, 'iso4217/EUR'), 0n);
    assert.equal(refundLimitOf({ role: 'support', refundLimits: null }, 'iso4217/USD'), 0n);
    assert.equal(refundLimitOf({ role: 'owner', refundLimits: limits }, 'iso4217/USD'), undefined);
  });
});
