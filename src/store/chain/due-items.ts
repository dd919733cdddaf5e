import type { PaymentStatus } from '../../domain/payment.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';
import { itemColumns, type StoredItem } from './items.ts';

/** An item that waits to be sent. */
export interface DueItem extends StoredItem {
  readonly signature: string;
  /** How often sending it came to nothing. */
  readonly attempts: number;
}

/** One of several signers of a network: each sees its part of what is due, so that two never prepare the same batch. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

/** A signer, and what it may send: tokens of everybody, and coin that is its own. */
export interface Carrier {
  readonly network: string;
  readonly signer: string;
  /** Whether it sends nothing but its own coin, as the intermediate account does. */
  readonly isCoinOnly?: boolean | undefined;
}

function isCarriedBy(db: Reader, { network, signer, isCoinOnly = false }: Carrier) {
  return db`network = ${network} and (method = 'native' and payer = ${signer} or method <> 'native' and not ${isCoinOnly})`;
}

/**
 * What is due on a network, oldest first, without what the chain would refuse as late. What has waited since
 * `anyonesBefore` is shown to every signer, so that one that is stuck holds nothing up.
 */
export function findDueItems(
  db: Reader,
  ask: Carrier & { now: Date; deadlineAfter: Date; share: Share; anyonesBefore: Date; limit: number },
): Promise<DueItem[]> {
  return db<DueItem[]>`
    select ${itemColumns(db)}, attempts from items
    where ${isCarriedBy(db, ask)} and state = 'due' and (retry_at is null or retry_at <= ${ask.now})
      and deadline > ${ask.deadlineAfter}
      and (mod(hashtext(commitment) & 2147483647, ${ask.share.of}) = ${ask.share.index}
        or accepted_at < ${ask.anyonesBefore})
    order by accepted_at limit ${ask.limit}`;
}

/** Whether a signer has anything in flight, and anything to send: without, the chain need not be asked. */
export async function findWork(
  db: Reader,
  { now, ...carrier }: Carrier & { now: Date },
): Promise<{ hasOpen: boolean; hasDue: boolean }> {
  const rows = await db<{ hasOpen: boolean; hasDue: boolean }[]>`
    select
      exists (select from sends
        where network = ${carrier.network} and signer = ${carrier.signer} and state = 'open') as "hasOpen",
      exists (select from items where ${isCarriedBy(db, carrier)} and state = 'due'
        and (retry_at is null or retry_at <= ${now})) as "hasDue"`;
  return one(rows);
}

/** Marks items as sent; false when one of them is not due any more, or is being taken by somebody else right now. */
export async function takeDueItems(tx: Tx, commitments: readonly string[]): Promise<boolean> {
  const { count } = await tx`
    update items set state = 'sent', refusal = null
    where commitment in (
      select commitment from items where commitment = any(${commitments as string[]}::text[]) and state = 'due'
      for update skip locked)`;
  return count === commitments.length;
}

export interface Postponement {
  readonly commitment: string;
  readonly refusal: string;
  readonly retryAt: Date;
}

/**
 * Leaves items for later, with what the simulation said against them. That an item is late only says that its time is over:
 * what stood against it before is kept, as that is why.
 */
export async function postponeItems(tx: Tx, postponements: readonly Postponement[]): Promise<void> {
  await tx`
    update items i
    set attempts = i.attempts + 1, retry_at = p."retryAt",
      refusal = case when p.refusal = 'late' then coalesce(i.refusal, p.refusal) else p.refusal end
    from jsonb_to_recordset(${tx.json(postponements as never)}) as p(commitment text, refusal text, "retryAt" timestamptz)
    where i.commitment = p.commitment and i.state = 'due'`;
}

/** Payments with an item on this network that ran out before that time, or that a simulation called used. */
export async function findPaymentsToJudge(
  db: Reader,
  { network, finalAt, now, limit }: { network: string; finalAt: Date; now: Date; limit: number },
): Promise<string[]> {
  const rows = await db<{ subject: string }[]>`
    (select i.subject from items i join payments p on p.id = i.subject
      where i.network = ${network} and i.state in ('offered', 'due', 'sent') and i.deadline < ${finalAt}
        and (p.expires_at <= ${now} or p.status <> 'requires_action')
      order by i.deadline limit ${limit})
    union
    (select subject from items
      where network = ${network} and state = 'due' and refusal = 'used' and purpose = 'payment' limit ${limit})`;
  return rows.map(({ subject }) => subject);
}

/** An item of ours that is not over, and what was last said against it. */
export type OutgoingItem = StoredItem & { readonly refusal: string | null };

/** Items of payouts, refunds and returns that ran out before that time, or that a simulation called used. */
export function findOutgoingToJudge(
  db: Reader,
  { network, finalAt, limit }: { network: string; finalAt: Date; limit: number },
): Promise<OutgoingItem[]> {
  return db<OutgoingItem[]>`
    select ${itemColumns(db)}, refusal from items
    where network = ${network} and purpose <> 'payment' and state in ('due', 'sent')
      and (deadline < ${finalAt} or refusal = 'used')
    order by deadline limit ${limit}`;
}

/** An item that is not over, with the status of its payment. */
export type OpenItem = StoredItem & { readonly paymentStatus: PaymentStatus };

/** All items of these payments that are not over, on every network. */
export function findOpenItemsOf(db: Reader, subjects: readonly string[]): Promise<OpenItem[]> {
  return db<OpenItem[]>`
    select ${itemColumns(db)}, (select status from payments where id = items.subject) as "paymentStatus" from items
    where subject = any(${subjects as string[]}::text[]) and state in ('offered', 'due', 'sent')`;
}

/** Whether anything on the network is on its way, or may be: handed out to a payer, to be sent, or sent. */
export async function hasOpenItems(db: Reader, network: string): Promise<boolean> {
  const rows = await db<{ found: boolean }[]>`
    select exists (select from items where network = ${network} and state in ('offered', 'due', 'sent')) as found`;
  return one(rows).found;
}

/** Paid items whose block is gone: the same authorization is due again; a native one waits for its payer's transaction. */
export async function reviveItems(tx: Tx, commitments: readonly string[]): Promise<{ subject: string }[]> {
  return tx<{ subject: string }[]>`
    update items set state = case when signature is null then 'offered' else 'due' end, ended_at = null, retry_at = null
    where commitment = any(${commitments as string[]}::text[]) and state = 'paid'
    returning subject`;
}

/** Items whose sends are all final are due again: what seemed to have paid them was not on the chain. */
export async function releaseItems(tx: Tx, commitments: readonly string[]): Promise<void> {
  await tx`
    update items i set state = 'due', retry_at = null
    where i.commitment = any(${commitments as string[]}::text[]) and i.state = 'sent'
      and not exists (
        select from send_items si join sends s on s.network = si.network and s.signer = si.signer and s.nonce = si.nonce
        where si.commitment = i.commitment and s.state = 'open')
      and not exists (select from chain_events e where e.commitment = i.commitment and e.type = 'paid')`;
}

/** Ends an item that nobody can have seen: it was never in a stored transaction. Whether that was so. */
export async function declineDueItem(tx: Tx, commitment: string, at: Date): Promise<boolean> {
  const { count } = await tx`
    update items set state = 'unpaid', signature = null, end_reason = 'declined', ended_at = ${at}
    where commitment = ${commitment} and state = 'due'
      and not exists (select from send_items where send_items.commitment = items.commitment)`;
  return count === 1;
}

/** How many items should have been decided by that time and are not. */
export async function countUndetermined(db: Reader, { network, before }: { network: string; before: Date }) {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from items i left join payments p on p.id = i.subject and i.purpose = 'payment'
    where i.network = ${network} and i.state in ('offered', 'due', 'sent') and i.deadline < ${before}
      and (i.purpose <> 'payment' or p.expires_at < ${before} or p.status <> 'requires_action')`;
  return row?.count ?? 0;
}
