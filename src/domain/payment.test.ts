import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  decide,
  isFinal,
  PAYMENT_STATUSES,
  type PaymentEvent,
  type PaymentState,
  type PaymentStatus,
  pollInMs,
  visibleStatus,
} from './payment.ts';

const EXPIRY = 1_000_000;
const BEFORE = EXPIRY - 1;
const DEADLINE = EXPIRY + 500;

const buyer = { account: 'eip155:1:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', name: 'Wallet', icon: null };
const token = { asset: 'eip155:1/slip44:60', value: 1n };
const EVENTS = {
  confirmed: { type: 'confirmed', buyer, token, isNative: false },
  'confirmed natively': { type: 'confirmed', buyer, token, isNative: true },
  succeeded: { type: 'succeeded', buyer, token, transaction: { hash: '0x1', nonce: 1 } },
  failed: { type: 'failed', failureCode: null },
  lapsed: { type: 'lapsed', proof: { finalBlockAtMs: DEADLINE + 1 } },
  'lapsed by an early block': { type: 'lapsed', proof: { finalBlockAtMs: DEADLINE } },
  'lapsed by an early block with open addresses': {
    ...{ type: 'lapsed', proof: { finalBlockAtMs: DEADLINE }, keepsAddresses: true },
  },
  'expired by the clock': { type: 'expired', proof: 'clock' },
  'expired by the chain': { type: 'expired', proof: { finalBlockAtMs: DEADLINE + 1 } },
  'expired by an early block': { type: 'expired', proof: { finalBlockAtMs: DEADLINE } },
  cancelled: { type: 'cancelled', by: 'merchant' },
} as const satisfies Record<string, PaymentEvent>;
type EventName = keyof typeof EVENTS;

/** The outcome of each event: before the expiry, after it, and after it with a native action handed out. */
const TABLE: Record<
  'requires_action' | 'processing',
  Record<EventName, [before: string, after: string, native: string]>
> = {
  requires_action: {
    confirmed: ['processing', 'expired!', 'expired!'],
    'confirmed natively': ['processing', 'processing', 'processing'],
    succeeded: ['not_from_this_status!', 'not_from_this_status!', 'not_from_this_status!'],
    failed: ['failed', 'failed', 'failed'],
    lapsed: ['not_from_this_status!', 'expired!', 'expired!'],
    'lapsed by an early block': ['not_from_this_status!', 'expired!', 'may_still_be_paid!'],
    'lapsed by an early block with open addresses': ['not_from_this_status!', 'expired!', 'expired!'],
    'expired by the clock': ['not_expired!', 'expired', 'may_still_be_paid!'],
    'expired by the chain': ['not_expired!', 'expired', 'expired'],
    'expired by an early block': ['not_expired!', 'expired', 'may_still_be_paid!'],
    cancelled: ['cancelled', 'expired!', 'expired!'],
  },
  processing: {
    confirmed: ['not_from_this_status!', 'not_from_this_status!', 'not_from_this_status!'],
    'confirmed natively': ['not_from_this_status!', 'not_from_this_status!', 'not_from_this_status!'],
    succeeded: ['succeeded', 'succeeded', 'succeeded'],
    failed: ['failed', 'failed', 'failed'],
    lapsed: ['requires_action', 'expired!', 'expired!'],
    'lapsed by an early block': ['requires_action', 'expired!', 'may_still_be_paid!'],
    'lapsed by an early block with open addresses': ['requires_action', 'expired!', 'expired!'],
    'expired by the clock': ['may_still_be_paid!', 'may_still_be_paid!', 'may_still_be_paid!'],
    'expired by the chain': ['not_expired!', 'expired', 'expired'],
    'expired by an early block': ['not_expired!', 'expired', 'may_still_be_paid!'],
    cancelled: ['not_from_this_status!', 'not_from_this_status!', 'not_from_this_status!'],
  },
};

const SITUATIONS = [
  { name: 'before the expiry', nowMs: BEFORE, nativeDeadlineMs: null },
  { name: 'at the expiry', nowMs: EXPIRY, nativeDeadlineMs: null },
  { name: 'past the expiry, with a native action handed out', nowMs: EXPIRY + 1, nativeDeadlineMs: DEADLINE },
] as const;

describe('the life of a payment', () => {
  for (const status of ['requires_action', 'processing'] as const) {
    for (const [name, outcomes] of Object.entries(TABLE[status]) as [EventName, readonly string[]][]) {
      SITUATIONS.forEach(({ name: situation, nowMs, nativeDeadlineMs }, index) => {
        const expected = outcomes[index] ?? '';
        it(`${status} + ${name} ${situation}: ${expected}`, () => {
          const decision = decide({ status, expiresAtMs: EXPIRY, nativeDeadlineMs }, EVENTS[name], nowMs);
          assert.equal(decision.ok ? decision.to : `${decision.refusal}!`, expected);
        });
      });
    }
  }

  it('begins again before the expiry, while a deposit address may still be paid, only if its addresses stay open', () => {
    const open = { status: 'processing', expiresAtMs: EXPIRY, nativeDeadlineMs: DEADLINE } as const;
    const without = decide(open, EVENTS['lapsed by an early block'], BEFORE);
    assert.deepEqual(without, { ok: false, refusal: 'may_still_be_paid' });
    const again = decide(open, EVENTS['lapsed by an early block with open addresses'], BEFORE);
    assert.deepEqual(again, { ok: true, to: 'requires_action' });
  });

  for (const status of ['succeeded', 'failed', 'expired', 'cancelled'] as const) {
    it(`${status} is final, whatever happens`, () => {
      for (const event of Object.values(EVENTS)) {
        for (const { nowMs, nativeDeadlineMs } of SITUATIONS) {
          const decision = decide({ status, expiresAtMs: EXPIRY, nativeDeadlineMs }, event, nowMs);
          assert.deepEqual(decision, { ok: false, refusal: 'final' });
        }
      }
    });
  }

  it('keeps to its path under any sequence of events', () => {
    const step = fc.record({
      event: fc.constantFrom(...Object.values(EVENTS)),
      nowMs: fc.integer({ min: 0, max: 2 * EXPIRY }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.option(fc.constant(DEADLINE)), (steps, nativeDeadlineMs) => {
        let state: PaymentState = { status: 'requires_action', expiresAtMs: EXPIRY, nativeDeadlineMs };
        const path: PaymentStatus[] = [state.status];
        for (const { event, nowMs } of steps) {
          const decision = decide(state, event, nowMs);
          if (!decision.ok) continue;
          state = { ...state, status: decision.to };
          path.push(decision.to);
        }
        assert.ok(path.slice(0, -1).every((status) => !isFinal(status)));
        const open = path.filter((status) => !isFinal(status));
        assert.ok(
          open.every((status, index) => status === (index % 2 === 0 ? 'requires_action' : 'processing')),
          'it can be tried again and again, and nothing else is repeated',
        );
      }),
    );
  });

  it('is never shown as payable past its expiry', () => {
    for (const status of PAYMENT_STATUSES) {
      for (const nativeDeadlineMs of [null, DEADLINE]) {
        const state = { status, expiresAtMs: EXPIRY, nativeDeadlineMs };
        const overdue = nativeDeadlineMs === null ? 'expired' : 'processing';
        assert.equal(visibleStatus(state, BEFORE), status);
        assert.equal(visibleStatus(state, EXPIRY), status === 'requires_action' ? overdue : status);
      }
    }
  });

  it('says how long to wait only while there is something to wait for', () => {
    for (const status of PAYMENT_STATUSES) assert.equal(pollInMs(status) === null, isFinal(status));
    assert.equal(pollInMs('requires_action'), 1000);
    assert.equal(pollInMs('processing'), 2000);
  });
});
