import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { payoutWaitOf, type WaitingPayout } from './payout.ts';

const NOW = new Date('2026-02-18T09:30:00Z');
const LATER = new Date('2026-02-19T09:30:00Z');
const READY: WaitingPayout = { state: 'held', isStopped: false, hasDestination: true, heldFrom: NOW, retryAt: null };

describe('a held amount waits for', () => {
  const rows: readonly [string | undefined, Partial<WaitingPayout>][] = [
    ['gateway', {}],
    ['destination', { hasDestination: false }],
    ['cooling_off', { heldFrom: LATER }],
    ['retry', { retryAt: LATER }],
    ['gateway', { retryAt: NOW }],
    ['unfreeze', { isStopped: true, hasDestination: false }],
    ['unfreeze', { isStopped: true, state: 'sending' }],
    ['network', { state: 'sending' }],
    ['network', { state: 'refunding', hasDestination: false }],
    [undefined, { state: 'paid' }],
    [undefined, { state: 'refunded', isStopped: true }],
  ];
  for (const [what, facts] of rows) {
    it(`${what ?? 'nothing'}: ${JSON.stringify(facts)}`, () => {
      assert.equal(payoutWaitOf({ ...READY, ...facts }, NOW)?.what, what);
    });
  }
  it('a time, if it is known', () => {
    assert.equal(payoutWaitOf({ ...READY, heldFrom: LATER }, NOW)?.until, LATER);
  });
});
