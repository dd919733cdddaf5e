import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  type AskedShare,
  coverOf,
  decideRefund,
  leftOf,
  NOT_LEFT,
  planShare,
  problemOf,
  REFUND_PROBLEMS,
  REFUND_STATES,
  type RefundEvent,
  type RefundState,
  type RefundWait,
  retryOf,
  type Share,
  takesPart,
  VETOED,
  type WaitingRefund,
  waitOf,
} from './refund.ts';

const EVENTS: readonly RefundEvent[] = [
  'covered',
  'short',
  'screened',
  'paid',
  'failed',
  'lapsed',
  'retried',
  'reopened',
  'replanned',
  'unfit',
  'vetoed',
  'renewed',
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
      'requested replanned requested',
      'requested unfit failed',
      'requested vetoed failed',
      'awaiting_funds covered sending',
      'awaiting_funds short awaiting_funds',
      'awaiting_funds screened failed',
      'awaiting_funds paid refunded',
      'awaiting_funds replanned requested',
      'awaiting_funds vetoed failed',
      'sending paid refunded',
      'sending failed failed',
      'sending lapsed awaiting_funds',
      'sending replanned requested',
      'failed retried sending',
      'failed reopened requested',
      'failed replanned requested',
      'failed vetoed failed',
      'failed renewed requested',
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
          // The merchant's own account may have paid it.
          if (event === 'covered' || event === 'paid') isCovered = true;
          // A replanned or vetoed refund gives its cover back. A lapsed one has none any more.
          if (event === 'replanned' || event === 'vetoed' || event === 'lapsed') isCovered = false;
          state = to;
          assert.ok(isCovered || state === 'requested' || state === 'awaiting_funds' || state === 'failed');
        }
      }),
    );
  });
});

describe('a refund that failed', () => {
  it('takes its part of the payment, unless it is unfit or vetoed: it can be retried', () => {
    for (const problem of [null, 'not_received', 'recipient_screened', NOT_LEFT, VETOED]) {
      for (const state of REFUND_STATES) {
        const isGivenUp = state === 'failed' && (problem === NOT_LEFT || problem === VETOED);
        assert.equal(takesPart({ state, problem }), !isGivenUp, `${state} ${problem}`);
      }
    }
  });

  it('has a problem that partners can read, and others have none', () => {
    for (const problem of REFUND_PROBLEMS) {
      assert.equal(problemOf({ state: 'failed', problem }), problem);
      assert.equal(problemOf({ state: 'sending', problem }), null);
    }
    for (const problem of [null, 'out_of_gas']) assert.equal(problemOf({ state: 'failed', problem }), 'not_received');
  });
});

describe('a refund that waits', () => {
  const LACKING: WaitingRefund = {
    ...{ state: 'awaiting_funds', amount: '100', lack: '30', waitsFor: null, merchantAccount: null },
    ...{ isStopped: false, isSigned: false, isCooling: false, isOffered: false },
  };
  const SHOP = { merchantAccount: '0xshop' };
  const WAITS: readonly [what: string, change: Partial<WaitingRefund>, wait?: readonly [RefundWait, string]][] = [
    ['lacks money of a float', {}, ['float', '30']],
    ['lacks nothing any more', { lack: '0' }],
    ['can be signed for by the merchant', SHOP, ['merchant_signature', '100']],
    [
      'lacks nothing, with a signature asked for',
      { ...SHOP, lack: '0', isOffered: true },
      ['merchant_signature', '100'],
    ],
    ['lacks nothing, with no signature asked for', { ...SHOP, lack: '0' }],
    ['was just asked for', { state: 'requested' }],
    ['is sent', { state: 'sending' }, ['network', '100']],
    ['is sent, whatever it waited for', { state: 'sending', isCooling: true, waitsFor: 'debt' }, ['network', '100']],
    ['is frozen', { isStopped: true, isCooling: true }, ['unfreeze', '100']],
    ['is frozen while it is sent', { isStopped: true, state: 'sending' }, ['unfreeze', '100']],
    ['is frozen after it was signed', { isStopped: true, isSigned: true, state: 'sending' }, ['network', '100']],
    ['cools off', { state: 'requested', isCooling: true, waitsFor: 'sweep' }, ['cooling_off', '100']],
    ['has its money at an address', { waitsFor: 'sweep' }, ['sweep', '100']],
    ['has debts', { state: 'requested', waitsFor: 'debt' }, ['debt', '100']],
    ['lost its money to a reorg', { waitsFor: 'arrival' }, ['arrival', '100']],
    ['is being computed, which is over at once', { waitsFor: 'position' }, ['float', '30']],
    ['is over', { state: 'refunded', isStopped: true, isCooling: true, waitsFor: 'sweep' }],
    ['has failed', { state: 'failed', isStopped: true, isCooling: true, waitsFor: 'sweep' }],
  ];

  for (const [what, change, wait] of WAITS) {
    it(`and ${what} waits for ${wait?.join(', ') ?? 'nothing'}`, () => {
      const [name, units] = wait ?? [];
      assert.deepEqual(waitOf({ ...LACKING, ...change }), wait && { what: name, units });
    });
  }
});

describe('the cover of a refund', () => {
  it('adds up to the amount, to the unit; the fee is always the operator’s', () => {
    const amounts = fc.bigInt({ min: 1n, max: 2n ** 100n }).chain((amount) =>
      fc.record({
        amount: fc.constant(amount),
        fee: fc.bigInt({ min: 0n, max: amount }),
        held: fc.bigInt({ min: 0n, max: amount }),
      }),
    );
    fc.assert(
      fc.property(amounts, (refund) => {
        const { held, merchant, operator } = coverOf(refund);
        assert.equal(held + merchant + operator, refund.amount);
        assert.equal(operator, refund.fee);
        assert.ok(held <= refund.held && merchant >= 0n);
        assert.ok(merchant === 0n || held === refund.held);
      }),
    );
  });
});

describe('refunds in parts', () => {
  /** 10.00 dollars, paid with 4,000,000,000,000,001 wei, of which 0.4 % is the fee. */
  const COFFEE: Share = { price: 1_000n, amount: 4_000_000_000_000_001n, fee: 16_000_000_000_000n };

  const parts = (payment: Share, asked: readonly AskedShare[]): (Share | string)[] => {
    const taken: Share[] = [];
    return asked.map((each) => {
      const plan = planShare(payment, leftOf(payment, taken), each);
      if (!plan.ok) return plan.problem;
      taken.push(plan.share);
      return plan.share;
    });
  };
  const priced = (value: bigint) => ({ unit: 'price', value }) as const;
  const paid = (value: bigint) => ({ unit: 'asset', value }) as const;

  it('are converted at the payment’s own quote, and the last takes the remainder', () => {
    assert.deepEqual(parts(COFFEE, [priced(333n), priced(333n), priced(334n)]), [
      { price: 333n, amount: 1_332_000_000_000_000n, fee: 5_327_999_999_999n },
      { price: 333n, amount: 1_332_000_000_000_000n, fee: 5_328_000_000_000n },
      { price: 334n, amount: 1_336_000_000_000_001n, fee: 5_344_000_000_001n },
    ]);
    assert.deepEqual(parts(COFFEE, [paid(1n), 'all']), [
      { price: 1n, amount: 1n, fee: 0n },
      { price: 999n, amount: 4_000_000_000_000_000n, fee: 16_000_000_000_000n },
    ]);
  });

  it('are never more than is left, in either unit', () => {
    assert.deepEqual(parts(COFFEE, [priced(1_001n)]), ['more_than_left']);
    assert.deepEqual(parts(COFFEE, [paid(4_000_000_000_000_002n)]), ['more_than_left']);
    assert.deepEqual(parts(COFFEE, [priced(1_000n), priced(1n)]).at(-1), 'more_than_left');
    assert.deepEqual(parts(COFFEE, [priced(400n), priced(601n)]).at(-1), 'more_than_left');
  });

  it('round to nothing when the asset has no unit that small', () => {
    // 10.00 dollars, paid with 5 units of a token without decimals.
    const coarse = { price: 1_000n, amount: 5n, fee: 1n };
    assert.deepEqual(parts(coarse, [priced(199n)]), ['rounds_to_nothing']);
    assert.deepEqual(parts(coarse, [priced(999n), priced(1n)]), [
      { price: 999n, amount: 4n, fee: 0n },
      { price: 1n, amount: 1n, fee: 1n },
    ]);
  });

  it('have no price when the last part has taken it, and a part before that was vetoed', () => {
    const cent = { price: 1n, amount: 4n, fee: 0n };
    const [vetoed, last] = parts(cent, [paid(2n), 'all']);
    assert.deepEqual(
      [vetoed, last],
      [
        { price: 0n, amount: 2n, fee: 0n },
        { price: 1n, amount: 2n, fee: 0n },
      ],
    );
    const left = leftOf(cent, [last as Share]);
    assert.deepEqual(planShare(cent, left, paid(1n)), { ok: true, share: { price: 0n, amount: 1n, fee: 0n } });
    assert.deepEqual(planShare(cent, left, 'all'), { ok: true, share: { price: 0n, amount: 2n, fee: 0n } });
  });

  it('are never more than is left, when an early part is given up whose price the last cents lack', () => {
    const payment = { price: 2n, amount: 10n, fee: 0n };
    const [, second] = parts(payment, [paid(1n), paid(6n)]);
    assert.deepEqual(second, { price: 0n, amount: 6n, fee: 0n });
    const left = leftOf(payment, [second as Share]);
    assert.deepEqual(planShare(payment, left, priced(1n)), { ok: true, share: { price: 2n, amount: 4n, fee: 0n } });
  });

  it('add up to the payment, whatever was asked for: price, amount, fee and net amount', () => {
    const payments = fc
      .tuple(fc.bigInt({ min: 1n, max: 2n ** 70n }), fc.bigInt({ min: 1n, max: 2n ** 90n }))
      .chain(([price, amount]) =>
        fc.record({ price: fc.constant(price), amount: fc.constant(amount), fee: fc.bigInt({ min: 0n, max: amount }) }),
      );
    const asks = fc.array(
      fc.record({ unit: fc.constantFrom('price' as const, 'asset' as const), per: fc.nat({ max: 1_100 }) }),
      { maxLength: 11 },
    );
    fc.assert(
      fc.property(payments, asks, fc.uniqueArray(fc.nat({ max: 10 }), { maxLength: 3 }), (payment, asked, dropped) => {
        let taken: Share[] = [];
        let isDropped = false;
        for (const [index, { unit, per }] of asked.entries()) {
          const whole = unit === 'price' ? payment.price : payment.amount;
          const left = leftOf(payment, taken);
          if (left.amount === 0n) break;
          const plan = planShare(payment, left, { unit, value: (whole * BigInt(per)) / 1_000n });
          if (!plan.ok) continue;
          const { share } = plan;
          assert.ok(share.amount > 0n && share.fee >= 0n && share.fee <= share.amount && share.price >= 0n);
          taken.push(share);
          // The first refund turns out to be unfit, and takes nothing any more.
          if (dropped.includes(index)) {
            taken = taken.slice(1);
            isDropped = true;
          }
          const rest = leftOf(payment, taken);
          assert.ok(rest.price >= 0n && rest.fee >= 0n && rest.amount >= rest.fee);
          if (rest.amount === 0n) assert.equal(rest.price, 0n);
          // Only the last part takes the whole price, unless an earlier one is given up afterwards.
          else assert.ok(rest.price > 0n || isDropped);
        }
        const last = leftOf(payment, taken);
        if (last.amount === 0n) return;
        const plan = planShare(payment, last, 'all');
        assert.ok(plan.ok);
        assert.deepEqual(leftOf(payment, [...taken, plan.share]), { price: 0n, amount: 0n, fee: 0n });
      }),
      { numRuns: 2_000 },
    );
  });
});
