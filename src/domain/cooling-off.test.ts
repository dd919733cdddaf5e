import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { termsAfterChange, termsOfNew } from './cooling-off.ts';

const HOUR_MS = 3_600_000;
const NOW = new Date(Date.UTC(2026, 2, 1));
const DAY = { now: NOW, periodMs: 24 * HOUR_MS };
const NONE = { now: NOW, periodMs: 0 };
const later = (ms: number) => new Date(NOW.getTime() + ms);
const IN_FORCE = { destination: 'old', pendingDestination: null, effectiveAt: null, heldFrom: new Date(0) };
const PENDING = { ...IN_FORCE, pendingDestination: 'new', effectiveAt: later(HOUR_MS) };

describe('the cooling-off period of a destination', () => {
  it('lets a first destination take new payments at once, and held money after the period', () => {
    const terms = { destination: 'new', pendingDestination: null, effectiveAt: null };
    assert.deepEqual(termsOfNew('new', undefined, DAY), { ...terms, heldFrom: later(24 * HOUR_MS) });
    assert.deepEqual(termsOfNew('new', undefined, NONE), { ...terms, heldFrom: NOW });
  });

  it('keeps a removed destination in force while its successor cools off', () => {
    const removed = { destination: 'old', heldFrom: new Date(0) };
    const pending = { pendingDestination: 'new', effectiveAt: later(24 * HOUR_MS) };
    assert.deepEqual(termsOfNew('new', removed, DAY), { ...IN_FORCE, ...pending });
    assert.deepEqual(termsOfNew('old', removed, DAY), IN_FORCE);
    assert.deepEqual(termsOfNew('new', removed, NONE), { ...IN_FORCE, destination: 'new' });
  });

  it('does not hurry a first destination that is removed and added again', () => {
    const heldFrom = later(HOUR_MS);
    assert.deepEqual(termsOfNew('old', { destination: 'old', heldFrom }, DAY).heldFrom, heldFrom);
    assert.deepEqual(termsOfNew('new', { destination: 'old', heldFrom }, DAY).heldFrom, heldFrom);
  });

  it('keeps the old destination in force until a change has cooled off', () => {
    const pending = { pendingDestination: 'new', effectiveAt: later(24 * HOUR_MS) };
    assert.deepEqual(termsAfterChange(IN_FORCE, 'new', DAY), { ...IN_FORCE, ...pending });
    assert.deepEqual(termsAfterChange(IN_FORCE, 'new', NONE), { ...IN_FORCE, destination: 'new' });
  });

  it('starts again for another destination, not for the same one', () => {
    assert.deepEqual(termsAfterChange(PENDING, 'new', DAY), PENDING);
    const other = { pendingDestination: 'other', effectiveAt: later(24 * HOUR_MS) };
    assert.deepEqual(termsAfterChange(PENDING, 'other', DAY), { ...PENDING, ...other });
  });

  it('is withdrawn by asking for the destination in force', () => {
    assert.deepEqual(termsAfterChange(PENDING, 'old', DAY), IN_FORCE);
  });
});
