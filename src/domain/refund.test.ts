import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { coverOf, decideRefund, REFUND_STATES, type RefundEvent, type RefundState, retryOf } from './refund.ts';

const EVENTS: readonly RefundEvent[] = [
  'covered',
  'short',
  'screened',
  'paid',
  'failed',
  'retried',
  'reopened',
  'undone',
];

describe('the life of a refund', () => {
  it('has these moves and no others', () => {
    const moves = REFUND_STATES.flatMap((state) =>
      EVENTS.flatMap((event) => {
        const to = decideRefund(state, event);
        return to === undefined ? [] : [`${state} ${event} ${to}`];
      }),
    );
    assert.deepEqual(moves, [
      'requested covered sending',
      'requested short awaiting_funds',
      'requested screened failed',
      'awaiting_funds covered sending',
      'awaiting_funds screened failed',
      'sending paid refunded',
      'sending failed failed',
      'failed retried sending',
      'failed reopened requested',
      'refunded undone sending',
    ]);
  });

  it('never sends anything that was not covered first', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 30 }), (events) => {
        let state: RefundState = 'requested';
        let isCovered = false;
        for (const asked of events) {
          const event = state === 'failed' && asked === 'retried' ? retryOf(isCovered) : asked;
          const to: RefundState | undefined = decideRefund(state, event);
          if (to === undefined) continue;
          if (event === 'covered') isCovered = true;
          state = to;
          assert.ok(isCovered || state === 'requested' || state === 'awaiting_funds' || state === 'failed');
        }
      }),
    );
  });
});

describe('the cover of a refund', () => {
  it('adds up to the paid amount, to the unit; the fee is always the operator’s', () => {
    const amounts = fc
      .bigInt({ min: 1n, max: 2n ** 100n })
      .chain((amount) =>
        fc.record({ amount: fc.constant(amount), fee: fc.bigInt({ min: 0n, max: amount }), isHeld: fc.boolean() }),
      );
    fc.assert(
      fc.property(amounts, (payment) => {
        const { held, merchant, operator } = coverOf(payment);
        assert.equal(held + merchant + operator, payment.amount);
        assert.equal(operator, payment.fee);
        assert.equal(payment.isHeld ? merchant : held, 0n);
      }),
    );
  });
});
