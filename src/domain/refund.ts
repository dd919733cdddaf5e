import { feeShare } from './money/fee-share.ts';
import { convertRoundedDown, convertRoundedUp } from './quote.ts';

/**
 * The life of a refund. The table has the target state of each event. Every transition goes through `decideRefund`. The database
 * update then checks that state and version are those on which `decideRefund` was based.
 */
export const REFUND_TRANSITIONS = {
  requested: {
    covered: 'sending',
    short: 'awaiting_funds',
    screened: 'failed',
    replanned: 'requested',
    unfit: 'failed',
    vetoed: 'failed',
  },
  awaiting_funds: {
    covered: 'sending',
    // `short` again: the reason why the refund waits for funds has changed.
    short: 'awaiting_funds',
    // `paid`: the merchant's account was asked for a signature, and carried out the refund itself without returning the signature
    // to us.
    paid: 'refunded',
    screened: 'failed',
    replanned: 'requested',
    vetoed: 'failed',
  },
  // `lapsed`: the merchant's signature ran out unused, so the refund needs funds again.
  sending: { paid: 'refunded', failed: 'failed', lapsed: 'awaiting_funds', replanned: 'requested' },
  // `reopened`: a refund that was never covered begins anew. `renewed`: a vetoed refund that nobody has signed gives its number
  // to a new refund.
  failed: { retried: 'sending', reopened: 'requested', replanned: 'requested', vetoed: 'failed', renewed: 'requested' },
  // `undone`: a reorg deeper than final depth removed the refund's transaction on chain, and its deadline passed before it was
  // mined again.
  refunded: { undone: 'sending' },
} as const satisfies Record<string, Partial<Record<RefundEvent, string>>>;

export type RefundState = keyof typeof REFUND_TRANSITIONS;

/**
 * The events of a refund. `replanned`: a rebuild found other refunds of the payment on chain, and this refund was never signed.
 * `unfit`: this refund no longer fits into the paid amount.
 */
export type RefundEvent =
  | 'covered'
  | 'short'
  | 'screened'
  | 'paid'
  | 'failed'
  | 'lapsed'
  | 'retried'
  | 'reopened'
  | 'replanned'
  | 'unfit'
  | 'vetoed'
  | 'renewed'
  | 'undone';

export const REFUND_STATES = Object.keys(REFUND_TRANSITIONS) as readonly RefundState[];

/** The state after an event. Undefined if the event is not allowed in the state. */
export function decideRefund(state: RefundState, event: RefundEvent): RefundState | undefined {
  return (REFUND_TRANSITIONS[state] as Partial<Record<RefundEvent, RefundState>>)[event];
}

/** The event of a retry: `retried` if the cover was kept, `reopened` if there was none. */
export function retryOf(isCovered: boolean): 'retried' | 'reopened' {
  return isCovered ? 'retried' : 'reopened';
}

/** The problems of refunds that are unfit or vetoed. Such refunds take no part of their payment, and cannot be retried. */
export const NOT_LEFT = 'not_left';
export const VETOED = 'vetoed';

export interface RefundStanding {
  readonly state: RefundState;
  readonly problem: string | null;
}

/** True if a part of the payment is set aside for the refund, or was refunded by it. */
export function takesPart({ state, problem }: RefundStanding): boolean {
  return !(state === 'failed' && (problem === NOT_LEFT || problem === VETOED));
}

/** A payment, a refunded part of it, or the part that is left. */
export interface Share {
  /** The share in the unit of the price. */
  readonly price: bigint;
  /** The share in the smallest unit of the paid asset. */
  readonly amount: bigint;
  /** The operator's fee, which is contained in the amount. */
  readonly fee: bigint;
}

export function leftOf(payment: Share, taken: readonly Share[]): Share {
  return taken.reduce(
    (left, { price, amount, fee }) => ({
      price: left.price - price,
      amount: left.amount - amount,
      fee: left.fee - fee,
    }),
    payment,
  );
}

/** The problems that partners see. All others are internal, and shown as `not_received`. */
export const REFUND_PROBLEMS = [
  VETOED,
  NOT_LEFT,
  'recipient_screened',
  'recipient_blacklisted',
  'not_received',
] as const;
export type RefundProblem = (typeof REFUND_PROBLEMS)[number];

/** The problem of a failed refund, as partners see it. Null if the refund has not failed. */
export function problemOf({ state, problem }: RefundStanding): RefundProblem | null {
  return state === 'failed' ? publicProblem(problem) : null;
}

/** The public form of a stored problem: the problem itself if partners may see it, else `not_received`. */
export function publicProblem(problem: string | null): RefundProblem {
  return REFUND_PROBLEMS.find((each) => each === problem) ?? 'not_received';
}

/** The requested amount: all that is left, or an amount in the unit of the price or of the paid asset. */
export type AskedShare = 'all' | { readonly unit: 'price' | 'asset'; readonly value: bigint };

export type SharePlan =
  | { readonly ok: true; readonly share: Share }
  | { readonly ok: false; readonly problem: 'more_than_left' | 'rounds_to_nothing' };

/**
 * The next part of a payment to refund, converted at the payment's own rate: the ratio of the paid amount to the price. The
 * converted amount is rounded down. The fee is returned pro rata. The last part takes the remainder of price, amount and fee, so
 * that the parts add up to the payment exactly.
 */
export function planShare(payment: Share, left: Share, asked: AskedShare): SharePlan {
  if (asked === 'all') return { ok: true, share: left };
  const { unit, value } = asked;
  const amount = unit === 'asset' ? value : amountFor(payment, left, value);
  if (value > (unit === 'asset' ? left.amount : left.price)) return { ok: false, problem: 'more_than_left' };
  if (amount === 0n) return { ok: false, problem: 'rounds_to_nothing' };
  if (amount === left.amount) return { ok: true, share: left };
  const price = unit === 'price' ? value : priceFor(payment, left, amount);
  return { ok: true, share: { price, amount, fee: feeFor(payment, left, amount) } };
}

/**
 * The amount to refund for a part of the price. A refund of the whole remaining price returns the whole remaining amount, which
 * can be less than the converted price. That happens if a refund in the paid asset took a smaller part of the price than of the
 * amount, and an earlier refund was given up.
 */
function amountFor(payment: Share, left: Share, price: bigint): bigint {
  if (price === left.price) return left.amount;
  return least(left.amount, convertRoundedDown(price, { numerator: payment.amount, denominator: payment.price }));
}

/**
 * The price of a refunded amount, rounded up, so that the remaining price is never worth more than the remaining amount. At least
 * one unit of the price is kept for the last refund.
 */
function priceFor(payment: Share, left: Share, amount: bigint): bigint {
  const price = convertRoundedUp(amount, { numerator: payment.price, denominator: payment.amount });
  return least(price, greatest(0n, left.price - 1n));
}

/**
 * The fee in a refunded amount. It is computed over all refunds so far, so that rounding errors do not accumulate. Fee and net
 * amount of the part never exceed the remaining fee and the remaining net amount.
 */
function feeFor(payment: Share, left: Share, amount: bigint): bigint {
  const given = payment.amount - left.amount + amount;
  const proRata = feeShare({ fee: payment.fee, of: payment.amount }, 0n, given) - (payment.fee - left.fee);
  const netLeft = left.amount - left.fee;
  return greatest(greatest(0n, amount - netLeft), least(proRata, least(amount, left.fee)));
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function greatest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** The sources of a refund, in the smallest unit of the paid asset. They add up to the refunded amount. */
export interface Cover {
  /** The part from the payment's own net amount, as far as that is still on the intermediate account. */
  readonly held: bigint;
  readonly merchant: bigint;
  /** The part from the operator's float. It returns the fee, because the fee has left the intermediate account. */
  readonly operator: bigint;
}

/** The sources of a refund of `amount`. `held` is the net amount of the payment that is still held. */
export function coverOf({ amount, fee, held }: { amount: bigint; fee: bigint; held: bigint }): Cover {
  const fromHeld = least(held, amount - fee);
  return { held: fromHeld, merchant: amount - fee - fromHeld, operator: fee };
}

/**
 * The reason why the held part of a refund cannot be taken yet. `sweep`: the money is still at the deposit address. `debt`: a
 * reorg removed money of the payment that was already spent. `arrival`: a reorg removed the money that paid. `position`: the
 * gateway has not yet computed the payment's money.
 */
export type RefundHold = 'sweep' | 'debt' | 'arrival' | 'position';

export const REFUND_WAITS = [
  'float',
  'merchant_signature',
  'network',
  'unfreeze',
  'cooling_off',
  'sweep',
  'debt',
  'arrival',
] as const;
export type RefundWait = (typeof REFUND_WAITS)[number];

export interface WaitingRefund {
  readonly state: RefundState;
  readonly amount: string;
  readonly isStopped: boolean;
  /** True if the transfer is signed: a freeze does not stop it any more. */
  readonly isSigned: boolean;
  /** True if the refund is still cooling off and must not be sent yet. */
  readonly isCooling: boolean;
  /** The units that are missing in the floats. */
  readonly lack: string;
  /** The reason why the held part of the money cannot be taken yet. */
  readonly waitsFor: RefundHold | null;
  /** The address that received the money and may sign for the refund. Null if a part of the money is held. */
  readonly merchantAccount: string | null;
  /** True if the merchant's account was asked to sign, and its signature can still be carried out. */
  readonly isOffered: boolean;
}

/** The reason why a refund waits, and the units that wait or are missing. Undefined if it waits for nothing. */
export function waitOf({
  state,
  amount,
  isStopped,
  isSigned,
  isCooling,
  lack,
  waitsFor,
  merchantAccount,
  isOffered,
}: WaitingRefund): { readonly what: RefundWait; readonly units: string } | undefined {
  if (state === 'refunded' || state === 'failed') return undefined;
  if (isStopped && !isSigned) return { what: 'unfreeze', units: amount };
  if (state === 'sending') return { what: 'network', units: amount };
  if (isCooling) return { what: 'cooling_off', units: amount };
  if (waitsFor !== null && waitsFor !== 'position') return { what: waitsFor, units: amount };
  if (state !== 'awaiting_funds' || (lack === '0' && !isOffered)) return undefined;
  return merchantAccount === null ? { what: 'float', units: lack } : { what: 'merchant_signature', units: amount };
}
