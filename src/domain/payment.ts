/**
 * The life of a payment. The table has the target status of each event, and `decide` checks whether the event is allowed now.
 * Every transition goes through `decide`. The database update then checks that status and version are those on which `decide` was
 * based.
 */
export const TRANSITIONS = {
  requires_action: { confirmed: 'processing', failed: 'failed', expired: 'expired', cancelled: 'cancelled' },
  processing: { succeeded: 'succeeded', lapsed: 'requires_action', failed: 'failed', expired: 'expired' },
  succeeded: {},
  failed: {},
  expired: {},
  cancelled: {},
} as const satisfies Record<string, Partial<Record<PaymentEvent['type'], string>>>;

export type PaymentStatus = keyof typeof TRANSITIONS;

export const PAYMENT_STATUSES = Object.keys(TRANSITIONS) as readonly PaymentStatus[];

export type PaymentEvent =
  | {
      readonly type: 'confirmed';
      readonly buyer: Buyer;
      readonly token: TokenAmount;
      /**
       * True if the payer has sent native coin. The transaction is visible on chain, so it is accepted at any time; a signature
       * must come before the expiry.
       */
      readonly isNative: boolean;
    }
  /**
   * A transfer has paid the payment. Buyer and token are those of this transfer. The payer may have confirmed another way to pay
   * before.
   */
  | {
      readonly type: 'succeeded';
      readonly buyer: Buyer;
      readonly token: TokenAmount;
      readonly transaction: { readonly hash: string; readonly nonce: number | null };
    }
  | { readonly type: 'failed'; readonly failureCode: FailureCode | null }
  /**
   * No signed attempt can be carried out any more, and there is time left: the payment can be paid again. Its deposit addresses
   * stay open if nothing has arrived there.
   */
  | { readonly type: 'lapsed'; readonly proof: ChainProof; readonly keepsAddresses?: true }
  /** The time to pay is over. The clock proves it; if there was an attempt, the chain must prove it. */
  | { readonly type: 'expired'; readonly proof: 'clock' | ChainProof }
  | { readonly type: 'cancelled'; readonly by: 'merchant' | 'user' };

/** The proof that no attempt can be carried out any more: the time of a final block after all deadlines. */
interface ChainProof {
  readonly finalBlockAtMs: number;
}

export type FailureCode = 'declined_user';

export interface Buyer {
  /** A CAIP-10 id. */
  readonly account: string;
  readonly name: string;
  readonly icon: string | null;
}

export interface TokenAmount {
  /** A CAIP-19 id. */
  readonly asset: string;
  readonly value: bigint;
}

export interface PaymentState {
  readonly status: PaymentStatus;
  readonly expiresAtMs: number;
  /** The latest deadline on chain of a payment in native coin that was handed out to a payer. */
  readonly nativeDeadlineMs: number | null;
}

export type Refusal =
  | 'final'
  | 'expired'
  | 'not_expired'
  | 'may_still_be_paid'
  | 'attempt_over'
  | 'merchant_stopped'
  | 'network_stopped'
  | 'not_from_this_status';

export type Decision =
  | { readonly ok: true; readonly to: PaymentStatus }
  | { readonly ok: false; readonly refusal: Refusal };

export function decide(payment: PaymentState, event: PaymentEvent, nowMs: number): Decision {
  const { status, nativeDeadlineMs } = payment;
  const isPastExpiry = nowMs >= payment.expiresAtMs;
  const isOverdue = status === 'requires_action' && isPastExpiry;
  if (isFinal(status)) return refuse('final');
  if (event.type === 'cancelled' && isOverdue) return refuse('expired');
  if (event.type === 'confirmed' && isOverdue && !event.isNative) return refuse('expired');
  if (event.type === 'expired' && event.proof === 'clock') {
    if (status === 'processing') return refuse('may_still_be_paid');
    if (!isOverdue) return refuse('not_expired');
    if (nativeDeadlineMs !== null) return refuse('may_still_be_paid');
  }
  if ((event.type === 'lapsed' || event.type === 'expired') && event.proof !== 'clock') {
    const isNativeOpen = nativeDeadlineMs !== null && event.proof.finalBlockAtMs <= nativeDeadlineMs;
    if (isNativeOpen && !(event.type === 'lapsed' && event.keepsAddresses)) return refuse('may_still_be_paid');
    if (event.type === 'expired' && !isPastExpiry) return refuse('not_expired');
    if (event.type === 'lapsed' && isPastExpiry) return refuse('expired');
  }
  const to = (TRANSITIONS[status] as Partial<Record<PaymentEvent['type'], PaymentStatus>>)[event.type];
  return to === undefined ? refuse('not_from_this_status') : { ok: true, to };
}

const FINAL: ReadonlySet<string> = new Set(
  Object.entries(TRANSITIONS).flatMap(([status, moves]) => (Object.keys(moves).length === 0 ? [status] : [])),
);

export function isFinal(status: PaymentStatus): boolean {
  return FINAL.has(status);
}

/**
 * The status that all answers show. A payment past its expiry is never shown as payable, even before the expiry job has moved it:
 * it is shown as expired, or as `processing` while a native transaction may still arrive.
 */
export function visibleStatus({ status, expiresAtMs, nativeDeadlineMs }: PaymentState, nowMs: number): PaymentStatus {
  if (status !== 'requires_action' || nowMs < expiresAtMs) return status;
  return nativeDeadlineMs === null ? 'expired' : 'processing';
}

const POLL_MS: Partial<Record<PaymentStatus, number>> = { requires_action: 1_000, processing: 2_000 };

/** The time after which a client should ask again. Null if no further poll is needed. */
export function pollInMs(status: PaymentStatus): number | null {
  return POLL_MS[status] ?? null;
}

const refuse = (refusal: Refusal): Decision => ({ ok: false, refusal });
