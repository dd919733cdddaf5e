import type { PayoutState, WaitingPayout } from '../../domain/payout.ts';
import { isPayoutStopped } from '../parties/freezes.ts';
import { isMerchantIn, type MerchantPlace } from '../parties/merchants.ts';
import { caipKeySql } from '../plumbing/address-key.ts';
import type { Reader } from '../plumbing/database.ts';

/** Held money as lists show it: the remainder of a payment's lots, a payout, or the held part of a refund. */
export interface ListedPayout extends WaitingPayout {
  readonly paymentId: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly asset: string;
  readonly amount: string;
  /** CAIP-10. The recipient of the last payout, or else the merchant's present settlement destination. */
  readonly destination: string | null;
  readonly problem: string | null;
  readonly transactionHash: string | null;
  readonly heldAt: Date;
  readonly updatedAt: Date;
}

export interface PayoutQuery {
  readonly of: MerchantPlace;
  readonly states: readonly PayoutState[];
  /** The last payment of the page before this one. Only payments with a smaller id are listed. */
  readonly beforeId: string | undefined;
  /** The largest number of payments on a page. A payment may have several rows. */
  readonly limit: number;
}

/** The payouts of the newest payments. An index gives the newest payments of each merchant, and the newest of all of these are listed. */
export function listPayouts(db: Reader, { of, states, beforeId, limit }: PayoutQuery): Promise<ListedPayout[]> {
  const wanted = db`any(${states as string[]}::text[])`;
  const isBefore = beforeId === undefined ? db`true` : db`x.payment_id < ${beforeId}`;
  const page = db`${isBefore} order by 1 desc limit ${limit}`;
  const newest = db`
    select held.payment_id from merchants w cross join lateral (
      (select distinct x.payment_id from lots x
        where x.merchant_id = w.id and x.is_open and (x.address is not null or x.is_paying) and 'held' = ${wanted} and ${page})
      union
      (select x.payment_id from outgoing x
        where x.merchant_id = w.id and x.payment_id is not null and x.state = ${wanted} and ${page})
      union
      (select x.payment_id from refunds x where x.merchant_id = w.id and x.from_held > 0 and ${stateOfRefund(db)} = ${wanted} and ${page})
    ) held
    where ${isMerchantIn(db, of)}
    group by 1 order by 1 desc limit ${limit}`;
  return db<ListedPayout[]>`
    with newest as materialized (${newest})
    select p.payment_id as "paymentId", y.reference_id as "referenceId", p.merchant_id as "merchantId", p.asset,
      p.amount::text as amount, p.state, p.problem, coalesce(p.destination, c.destination) as destination,
      p.retry_at as "retryAt", p.held_at as "heldAt", p.updated_at as "updatedAt", c.held_from as "heldFrom",
      ${isPayoutStopped(db)} as "isStopped",
      coalesce(${caipKeySql(db, db`c.destination`)} <> ${caipKeySql(db, db`(p.network || ':' || p.account)`)}, false) as "hasDestination",
      p.transaction_hash as "transactionHash"
    from (
      select h.payment_id, h.merchant_id, h.network, h.asset, h.account, h.amount, 'held' as state, h.problem, h.destination,
        h.retry_at, h.held_at, h.updated_at, null as transaction_hash
      from ${heldOf(db, db`x.payment_id in (select payment_id from newest)`)} h where 'held' = ${wanted}
      union all
      select o.payment_id, o.merchant_id, o.network, o.asset, o.payer, o.amount, o.state, null,
        o.network || ':' || o.recipient, null, coalesce((
          select min(l.held_at) from lot_spends s join lots l on l.id = s.lot_id where s.order_id = o.id), o.created_at),
        o.updated_at, case when o.state = 'paid' then o.transaction_hash end
      from outgoing o where o.payment_id in (select payment_id from newest) and o.state = ${wanted}
      union all
      select x.payment_id, x.merchant_id, x.network, x.asset, x.account, x.from_held, ${stateOfRefund(db)}, null, null, null,
        x.requested_at, x.updated_at, null
      from refunds x where x.payment_id in (select payment_id from newest) and x.from_held > 0 and ${stateOfRefund(db)} = ${wanted}
    ) p
    join payments y on y.id = p.payment_id
    left join crypto_settlements c on c.merchant_id = p.merchant_id and c.asset = p.asset
    order by p.payment_id desc, p.held_at, p.state, p.asset`;
}

function stateOfRefund(db: Reader) {
  return db`case when x.state = 'refunded' then 'refunded' else 'refunding' end`;
}

/**
 * The SQL rows of the remainders of the lots `x`, by payment, network, asset and account. The lots of late items are left out: they are for
 * returns.
 */
function heldOf(db: Reader, isWanted: ReturnType<Reader>) {
  return db`(
    select x.payment_id, x.merchant_id, x.network, x.asset, x.account, max(x.problem) as problem,
      max(x.destination) as destination, max(x.retry_at) as retry_at, min(x.held_at) as held_at, max(x.updated_at) as updated_at,
      sum(x.net - coalesce((select sum(s.units) from lot_spends s where s.lot_id = x.id), 0)) as amount
    from lots x where ${isWanted} and x.is_open and (x.address is not null or x.is_paying)
    group by x.payment_id, x.merchant_id, x.network, x.asset, x.account)`;
}

/** Money of a payment that is held for its merchant, in one asset on one account. */
export interface HeldMoney {
  readonly network: string;
  readonly asset: string;
  readonly account: string;
  readonly amount: string;
  readonly problem: string | null;
}

export function findHeldMoney(db: Reader, paymentId: string): Promise<HeldMoney[]> {
  return db<HeldMoney[]>`
    select h.network, h.asset, h.account, h.amount::text as amount, h.problem
    from ${heldOf(db, db`x.payment_id = ${paymentId}`)} h order by h.held_at, h.asset`;
}

/** The number of a merchant's rows whose money would be stranded if the merchant were deleted, by kind. Counting stops at a hundred. */
export interface MerchantMoney {
  readonly held: number;
  readonly outgoing: number;
  readonly refunds: number;
  readonly unexpected: number;
  readonly processing: number;
}

export async function countMerchantMoney(db: Reader, merchantId: string): Promise<MerchantMoney> {
  const count = (found: ReturnType<Reader>) => db`(select count(*)::int from (${found} limit 100) found)`;
  const [row] = await db<MerchantMoney[]>`
    select
      ${count(db`select distinct payment_id from lots where merchant_id = ${merchantId} and is_open
        union select payment_id from lots where merchant_id = ${merchantId} and waiting > 0`)} as held,
      ${count(db`select from outgoing where merchant_id = ${merchantId} and state = 'sending'`)} as outgoing,
      ${count(db`select from refunds
        where merchant_id = ${merchantId} and state in ('requested', 'awaiting_funds', 'sending')`)} as refunds,
      ${count(db`select from strays
        where merchant_id = ${merchantId} and state in ('unclaimed', 'requested', 'returning')`)} as unexpected,
      ${count(db`select from payments where merchant_id = ${merchantId} and status = 'processing'`)} as processing`;
  if (row === undefined) throw new Error('The counts have one row.');
  return row;
}
