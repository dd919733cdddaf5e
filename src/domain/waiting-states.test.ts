import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { limitOfWait, WAITING_STATES } from './waiting-states.ts';

/** These waits end by the clock alone, or hold up nobody but the party that decides. */
const WITHOUT_ALERT = [
  'payments.requires_action',
  'outgoing.fee_return',
  'lots.is_open',
  'strays.unclaimed',
  'crypto_settlements.effective_at',
  'merchant_logos.due_at',
  'webhook_endpoints.replay_after',
];

describe('the states that wait', () => {
  it('raise an alert, or are named here', () => {
    const silent = Object.entries(WAITING_STATES).flatMap(([table, states]) =>
      Object.entries(states).flatMap(([state, row]) => ('alert' in row ? [] : [`${table}.${state}`])),
    );
    assert.deepEqual(silent, WITHOUT_ALERT);
  });

  it('name who brings them about, their end and their limit', () => {
    for (const [table, states] of Object.entries(WAITING_STATES)) {
      for (const [state, row] of Object.entries(states)) {
        for (const part of ['from', 'out', 'latest'] as const) assert.ok(row[part], `${table}.${state}: ${part}`);
      }
    }
  });

  it('of a payment are explained with their end and their limit', () => {
    const { out, latest } = WAITING_STATES.payments.processing;
    assert.equal(limitOfWait('processing'), `Ended by ${out}. At the latest: ${latest}.`);
    for (const status of ['succeeded', 'toString', '']) assert.equal(limitOfWait(status), undefined, status);
  });
});
