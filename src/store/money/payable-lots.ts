import type { Spend } from '../../domain/money/holding.ts';
import { isFinal, PAYMENT_STATUSES } from '../../domain/payment.ts';
import { lastNumber, type StoredDestination } from '../parties/destinations.ts';
import { isPayoutStopped } from '../parties/freezes.ts';
import { caipKeySql } from '../plumbing/address-key.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** The queue of payouts: lots with units left, and the settlement destinations of their merchants. */

/** A lot that may be paid out, with the settlement destination that its merchant has now. */
export interface PayableLot {
  readonly id: string;
  readonly paymentId: string;
  readonly settlement: StoredDestination;
}

interface Ask {
  readonly networks: readonly string[];
  readonly now: Date;
}

/**
 * Locks the payments that have money to pay out, the oldest first, and returns their lots. Payments that another database transaction has
 * locked are left for the next round. Postponed lots are left out until their time, so that they do not use up the limit.
 */
export async function lockPayableLots(tx: Tx, ask: Ask & { readonly limit: number }): Promise<PayableLot[]> {
  const found = await tx<{ id: string }[]>`
    select p.payment_id as id from ${payable(tx)}
    where ${isPayable(tx, ask)} and (p.retry_at is null or p.retry_at <= ${ask.now} or p.destination is distinct from c.destination)
    group by p.payment_id order by p.payment_id limit ${ask.limit}`;
  if (found.length === 0) return [];
  const locked = await tx<{ id: string }[]>`
    select id from payments where id = any(${found.map(({ id }) => id)}::text[]) order by id for update skip locked`;
  // The rows are read again under the locks, because a lot, its destination or a freeze may have changed meanwhile.
  const rows = await tx<(Omit<PayableLot, 'settlement'> & StoredDestination & { readonly settlementId: string })[]>`
    select p.id, p.payment_id as "paymentId", c.id as "settlementId", c.merchant_id as "merchantId", c.asset, c.destination,
      c.pending_destination as "pendingDestination", c.effective_at as "effectiveAt", c.held_from as "heldFrom", c.mac,
      c.number::text as number, ${lastNumber(tx, tx`c`)}::text as "lastNumber"
    from ${payable(tx)}
    where p.payment_id = any(${locked.map(({ id }) => id)}::text[]) and ${isPayable(tx, ask)}
    order by p.payment_id, p.number`;
  return rows.map(({ id, paymentId, settlementId, ...settlement }) => ({
    id,
    paymentId,
    settlement: { ...settlement, id: settlementId },
  }));
}

function payable(db: Reader) {
  return db`lots p join crypto_settlements c on c.merchant_id = p.merchant_id and c.asset = p.asset`;
}

const ENDED = PAYMENT_STATUSES.filter(isFinal);

/**
 * The SQL condition that a lot may be paid out. A lot that is already on its destination account stays there. The lots of late items, and
 * lots whose return was requested, are for returns. Nothing is paid out while the row of the payment in `positions` is outdated.
 */
function isPayable(db: Reader, { networks, now }: Ask) {
  return db`p.is_open and p.network = any(${networks as string[]}::text[]) and (p.address is not null or p.is_paying)
    and ${caipKeySql(db, db`c.destination`)} <> ${caipKeySql(db, db`(p.network || ':' || p.account)`)}
    and c.held_from <= ${now} and not ${isPayoutStopped(db)}
    and exists (select from payments y where y.id = p.payment_id and y.status = any(${ENDED as string[]}::text[]))
    and not exists (select from positions z where z.payment_id = p.payment_id and z.is_stale)
    and not exists (select from strays s where s.lot_id = p.id and s.state in ('requested', 'returning'))`;
}

/**
 * Lots whose payout failed or cannot begin. A payout to the same destination is tried again at `retryAt`, a payout to a new destination at
 * once.
 */
export interface Postponed {
  readonly lots: readonly string[];
  /** The destination as a CAIP-10 account. */
  readonly destination: string;
  readonly problem: string;
  readonly retryAt: Date;
}

export async function postponeLots(tx: Tx, { lots, destination, problem, retryAt }: Postponed): Promise<void> {
  await tx`
    update lots set destination = ${destination}, problem = ${problem}, retry_at = ${retryAt}
    where id = any(${lots as string[]}::text[])`;
}

/** The value of `problem` for a payout that needs more than the books hold, or more than its lots have left after a reorg. */
export const NOT_HELD = 'not_held';

/** True if the first lot of a payout is open and has the problem `NOT_HELD`. `payoutKeyOf` makes the key from the payout's id. */
export async function isPayoutNotHeld(db: Reader, payoutKey: string): Promise<boolean> {
  const rows = await db`select from lots where payout_key = ${payoutKey} and problem = ${NOT_HELD} and is_open limit 1`;
  return rows.length > 0;
}

/** Clears the problems of lots, because their payout has begun. */
export async function clearProblems(tx: Tx, lots: readonly string[]): Promise<void> {
  await tx`
    update lots set destination = null, problem = null, retry_at = null
    where id = any(${lots as string[]}::text[]) and problem is not null`;
}

/** The part of a lot that an order has taken. `isPaying` is a field of the lot. It is null if the lot has left the chain. */
export interface OrderSpend extends Pick<Spend, 'lot' | 'network' | 'asset' | 'account' | 'amount'> {
  readonly payment: string;
  readonly isPaying: boolean | null;
}

export async function findSpendsBy(db: Reader, order: string): Promise<OrderSpend[]> {
  const rows = await db<(Omit<OrderSpend, 'amount'> & { readonly units: string })[]>`
    select s.lot_id as lot, s.payment_id as payment, s.network, s.asset, s.account, s.units::text as units,
      l.is_paying as "isPaying"
    from lot_spends s left join lots l on l.id = s.lot_id where s.order_id = ${order} order by s.lot_id`;
  return rows.map(({ units, ...spend }) => ({ ...spend, amount: BigInt(units) }));
}

/** True if an order takes more than its lots have, because a reorg has removed money of these lots. */
export async function isBeyondLots(db: Reader, order: string): Promise<boolean> {
  const rows = await db`
    select from lot_spends s
    where s.order_id = ${order} and not exists (
      select from lots l where l.id = s.lot_id and l.is_held
        and l.net >= (select sum(o.units) from lot_spends o where o.lot_id = l.id))
    limit 1`;
  return rows.length > 0;
}

/** The settlement destination (CAIP-10) of a merchant for an asset. Undefined if the merchant has none. */
export async function findDestinationFor(
  db: Reader,
  { merchantId, asset }: { readonly merchantId: string; readonly asset: string },
): Promise<string | undefined> {
  const [row] = await db<{ destination: string }[]>`
    select destination from crypto_settlements where merchant_id = ${merchantId} and asset = ${asset}`;
  return row?.destination;
}
