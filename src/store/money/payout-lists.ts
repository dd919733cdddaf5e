import type { PayoutState, WaitingPayout } from '../../domain/payout.ts';
import { isPayoutStopped } from '../parties/freezes.ts';
import { isMerchantIn, type MerchantPlace } from '../parties/merchants.ts';
import type { Reader } from '../plumbing/database.ts';

/** A held amount as lists show it. */
export interface ListedPayout extends WaitingPayout {
  readonly paymentId: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly asset: string;
  readonly amount: string;
  /** CAIP-10. The destination it was last sent to, or else the merchant's present one. */
  readonly destination: string | null;
  readonly problem: string | null;
  readonly transactionHash: string | null;
  readonly heldAt: Date;
  readonly updatedAt: Date;
}

export interface PayoutQuery {
  readonly of: MerchantPlace;
  readonly states: readonly PayoutState[];
  /** Only payouts of payments before this one. */
  readonly beforeId: string | undefined;
  readonly limit: number;
}

/** The newest first. Each merchant gives its newest, by its index; the newest of these are shown. */
export function listPayouts(db: Reader, { of, states, beforeId, limit }: PayoutQuery): Promise<ListedPayout[]> {
  const newest = db`
    select held.payment_id from merchants w cross join lateral (
      select h.payment_id from payouts h
      where h.merchant_id = w.id and h.state = any(${states as string[]}::text[])
        and ${beforeId === undefined ? db`true` : db`h.payment_id < ${beforeId}`}
      order by h.payment_id desc limit ${limit}
    ) held
    where ${isMerchantIn(db, of)}
    order by held.payment_id desc limit ${limit}`;
  return db<ListedPayout[]>`
    select p.payment_id as "paymentId", y.reference_id as "referenceId", p.merchant_id as "merchantId", p.asset, p.amount,
      p.state, p.problem, coalesce(p.destination, c.destination) as destination, p.retry_at as "retryAt",
      p.held_at as "heldAt", p.updated_at as "updatedAt", c.held_from as "heldFrom", ${isPayoutStopped(db)} as "isStopped",
      coalesce(lower(c.destination) <> lower(p.network || ':' || p.account), false) as "hasDestination",
      case when p.state = 'paid' then s.transaction_hash end as "transactionHash"
    from payouts p
    join payments y on y.id = p.payment_id
    left join crypto_settlements c on c.merchant_id = p.merchant_id and c.asset = p.asset
    left join payment_settlements s on s.payment_id = p.payment_id
    where p.payment_id in (${newest})
    order by p.payment_id desc`;
}
