import type { ItemKey } from '../../domain/item.ts';
import type { PaymentStatus } from '../../domain/payment.ts';
import { isItemStopped } from '../parties/freezes.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';
import { itemColumns, type StoredItem } from './items.ts';
import { countsSince } from './payer-failures.ts';

export interface DueItem extends StoredItem {
  readonly signature: string;
  /** The number of failed attempts to send the item, including simulations. */
  readonly attempts: number;
  /**
   * True if the item is sent in the lane of isolated items: its account has code, or failed on the chain within the last hour, or the item
   * itself failed.
   */
  readonly isIsolated: boolean;
}

/** A signer's share of the due items of a network. Each of several signers has another share, so no two of them prepare the same batch. */
export interface Share {
  readonly index: number;
  readonly of: number;
}

/** A signer and the items that it may send: token items of every payer, and coin items that the signer itself pays. */
export interface Carrier {
  readonly network: string;
  readonly signer: string;
  /** True if the signer sends coin items only, as an intermediate account does. */
  readonly isCoinOnly?: boolean | undefined;
}

function isCarriedBy(db: Reader, { network, signer, isCoinOnly = false }: Carrier) {
  return db`network = ${network} and (method = 'native' and payer = ${signer} or method <> 'native' and not ${isCoinOnly})`;
}

/**
 * The limits up to which an item is sent again. An item that has reached one of them stays due until its deadline, but no relayer sends it.
 */
export interface SendLimits {
  /** The number of times that the item may fail on the chain. */
  readonly failures: number;
  /** The units of execution (on EVM chains gas) that the item may use in mined transactions. Undefined for no limit. */
  readonly work: bigint | undefined;
}

interface DueAsk extends Carrier {
  readonly now: Date;
  readonly limits: SendLimits;
}

/**
 * The SQL rows of the items that the carrier may send now. `failed_at` and `payer_retry_at` are set if the payer failed within the last
 * hour.
 */
function sendable(db: Reader, { now, limits, ...carrier }: DueAsk) {
  return ready(db, { now, limits }, isCarriedBy(db, carrier));
}

/** The SQL rows of the items that satisfy `isWanted` and may be sent now. */
function ready(
  db: Reader,
  { now, limits }: { readonly now: Date; readonly limits: SendLimits },
  isWanted: ReturnType<typeof isCarriedBy>,
) {
  const isCheap = limits.work === undefined ? db`true` : db`gas_spent < ${limits.work.toString()}`;
  return db`items left join lateral (
      select failed_at, retry_at as payer_retry_at from payer_failures f
      where items.purpose = 'payment' and f.network = items.network and f.payer = items.payer
        and f.failed_at > ${countsSince(now)}
    ) failing on true
    where ${isWanted} and state = 'due' and (retry_at is null or retry_at <= ${now})
      and (payer_retry_at is null or payer_retry_at <= ${now}) and failures < ${limits.failures} and ${isCheap}
      and ${mayBeSent(db)}`;
}

/**
 * The SQL condition that the row of `items` may be sent: no freeze stops it, and no other item has paid its payment, such as coin from a
 * second tab. A sweep does not count as such an item, because anybody can cause a sweep by sending another token.
 */
function mayBeSent(db: Reader) {
  return db`not ${isItemStopped(db)} and (purpose = 'sweep' or not exists (
    select from items other
    where other.subject = items.subject and other.commitment <> items.commitment and other.state = 'paid'
      and other.purpose <> 'sweep' and other.method not in ('deposit-vrs', 'deposit-bytes')))`;
}

/**
 * The due items that a signer may send, without items whose deadline would be too near.
 *
 * Isolated items come after all others. In both groups, payers take turns: first the oldest item of each payer, then the second item of
 * each. Each of our own transfers counts as a payer. Within a turn, postponed items come after those that became due before their new time,
 * so that refused items do not delay others.
 *
 * Items accepted before `sharedBefore` are in every signer's share, so that a stuck signer does not delay them. An isolated payer has at
 * most `isolatedEach` items in flight.
 */
export function findDueItems(
  db: Reader,
  ask: DueAsk & { deadlineAfter: Date; share: Share; sharedBefore: Date; isolatedEach: number; limit: number },
): Promise<DueItem[]> {
  return db<DueItem[]>`
    select ${itemColumns(db)}, attempts, "isIsolated" from (
      select *, has_code or failures > 0 or failed_at is not null as "isIsolated",
        row_number() over (partition by case purpose when 'payment' then payer else subject end order by accepted_at) as turn
      from ${sendable(db, ask)} and deadline > ${ask.deadlineAfter}
        and (mod(hashtext(commitment) & 2147483647, ${ask.share.of}) = ${ask.share.index}
          or accepted_at < ${ask.sharedBefore})
    ) items
    where not "isIsolated" or turn <= ${ask.isolatedEach} - (
      select count(*) from items sent
      where sent.network = items.network and sent.payer = items.payer and sent.purpose = 'payment' and sent.state = 'sent')
    order by "isIsolated", turn, coalesce(retry_at, accepted_at), accepted_at limit ${ask.limit}`;
}

/**
 * Tells a relayer whether it must call the chain at all. `hasOpen`: the signer has transactions in flight. `hasDue`: the signer has items
 * to send. Relayers ask many times a second, and mostly nothing is due. PostgreSQL plans the second statement anew each time, which takes
 * longer than running it. So the second statement runs only if any item of the network is due.
 */
export async function findWork(db: Reader, ask: DueAsk): Promise<{ hasOpen: boolean; hasDue: boolean }> {
  const rows = await db<{ hasOpen: boolean; isAnyDue: boolean }[]>`
    select
      exists (select from relay_sends
        where network = ${ask.network} and signer = ${ask.signer} and state = 'open') as "hasOpen",
      exists (select from items where network = ${ask.network} and state = 'due') as "isAnyDue"`;
  const { hasOpen, isAnyDue } = one(rows);
  if (!isAnyDue) return { hasOpen, hasDue: false };
  const due = await db<{ hasDue: boolean }[]>`select exists (select from ${sendable(db, ask)}) as "hasDue"`;
  return { hasOpen, hasDue: one(due).hasDue };
}

export interface OverdueWork {
  readonly count: number;
  /** The subject of the item that has waited longest. `since` is the time since which it could have been sent. */
  readonly oldest: string;
  readonly since: Date;
}

/**
 * Items that could have been sent at `before` and are still due: their number, and the one that has waited longest. Isolated items do not
 * count, because few of them are sent at once: a payer with many of them must not alarm the operator.
 */
export async function findUnsent(
  db: Reader,
  {
    network,
    before,
    deadlineAfter,
    limits,
  }: { network: string; before: Date; deadlineAfter: Date; limits: SendLimits },
): Promise<OverdueWork | undefined> {
  const isWanted = db`network = ${network} and accepted_at <= ${before} and deadline > ${deadlineAfter}`;
  const [row] = await db<OverdueWork[]>`
    select count(*) over ()::int as count, subject as oldest, greatest(accepted_at, retry_at, payer_retry_at) as since
    from ${ready(db, { now: before, limits }, isWanted)} and not has_code and failures = 0 and failed_at is null
    order by since limit 1`;
  return row;
}

/** Marks items as sent. Returns false if one of them is no longer due, may not be sent, or is locked by another database transaction. */
export async function takeDueItems(tx: Tx, keys: readonly ItemKey[]): Promise<boolean> {
  const { count } = await tx`
    update items set state = 'sent', refusal = null
    where commitment in (
      select commitment from items where commitment = any(${keys as ItemKey[]}::text[]) and state = 'due'
        and ${mayBeSent(tx)}
      for update skip locked)`;
  return count === keys.length;
}

/** Postpones items without counting a failure, because their payer has used up a budget. */
export async function deferItems(tx: Tx, keys: readonly ItemKey[], until: Date): Promise<void> {
  await tx`
    update items set retry_at = ${until}
    where commitment = any(${keys as ItemKey[]}::text[]) and state = 'due'`;
}

export interface Postponement {
  readonly key: ItemKey;
  readonly refusal: string;
  readonly retryAt: Date;
}

/**
 * Postpones items that a simulation refused, and stores its reason. The reason `late` does not replace an earlier reason, which is the real
 * cause.
 */
export async function postponeItems(tx: Tx, postponements: readonly Postponement[]): Promise<void> {
  await tx`
    update items i
    set attempts = i.attempts + 1, retry_at = p."retryAt",
      refusal = case when p.refusal = 'late' then coalesce(i.refusal, p.refusal) else p.refusal end
    from jsonb_to_recordset(${tx.json(postponements as never)}) as p(key text, refusal text, "retryAt" timestamptz)
    where i.commitment = p.key and i.state = 'due'`;
}

export type OpenItem = StoredItem & { readonly paymentStatus: PaymentStatus; readonly paymentExpiresAt: Date };

/** All open items of these payments, on every network. */
export function findOpenItemsOf(db: Reader, subjects: readonly string[]): Promise<OpenItem[]> {
  return db<OpenItem[]>`
    select ${itemColumns(db)}, p.status as "paymentStatus", p.expires_at as "paymentExpiresAt"
    from items, lateral (select status, expires_at from payments where id = items.subject) p
    where subject = any(${subjects as string[]}::text[]) and state in ('offered', 'due', 'sent') and purpose <> 'sweep'`;
}

/** The time for which an open item counts as in flight. An item that is open for longer waits for an endpoint to answer. */
const COUNTED_MS = 86_400_000;

/** The payments of an account that are in flight: accepted, and not ended yet. */
export interface UnderWay {
  readonly count: number;
  /**
   * The amounts that these payments will take, by asset. Payments that a block already shows as paid are left out, because the account's
   * balance no longer contains their money.
   */
  readonly amounts: ReadonlyMap<string, bigint>;
}

/** For each of these accounts (CAIP-10), the payments that it is paying now. Items accepted more than a day ago are left out. */
export async function findUnderWay(
  db: Reader,
  accounts: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, UnderWay>> {
  // `state` is a filter of the aggregates. In the `where` clause, it would make the planner read all open items of the network.
  const rows = await db<{ account: string; asset: string; count: number; amount: string | null }[]>`
    select a.account, o.asset, o.count, o.amount
    from unnest(
      ${accounts as string[]}::text[],
      ${accounts.map((account) => account.slice(0, account.lastIndexOf(':')))}::text[],
      ${accounts.map((account) => account.slice(account.lastIndexOf(':') + 1))}::text[]
    ) as a(account, network, payer)
    cross join lateral (
      select i.asset, count(*) filter (where i.state in ('due', 'sent'))::int as count,
        (sum(i.amount) filter (where i.state in ('due', 'sent') and not ${isInBlock(db)}))::text as amount
      from items i
      where i.network = a.network and i.payer = a.payer and i.purpose = 'payment'
        and i.accepted_at > ${new Date(now.getTime() - COUNTED_MS)}
      group by i.asset
    ) o`;
  return new Map(
    [...Map.groupBy(rows, ({ account }) => account)].map(([account, own]) => [
      account,
      {
        count: own.reduce((sum, { count }) => sum + count, 0),
        amounts: new Map(own.map(({ asset, amount }) => [asset, BigInt(amount ?? 0)])),
      },
    ]),
  );
}

/**
 * The SQL condition that a block shows an event of the item `i`. For an authorization to a deposit address, any event of its transaction
 * counts, because the event of the sweep has the commitment of the address.
 */
function isInBlock(db: Reader) {
  return db`(
    exists (select from chain_events e where e.commitment = i.commitment and e.type = 'paid')
    or i.method like 'deposit-%' and exists (
      select from relay_items s join relay_versions v using (network, signer, slot)
      join chain_events e on e.network = v.network and e.transaction_hash = v.hash
      where s.commitment = i.commitment))`;
}

/** The reason why the relayers could not send an accepted item of a payment so far. */
export interface RefusedAttempt {
  readonly refusal: string;
  /** The time until which relayers try to send the item. */
  readonly deadline: Date;
}

export async function findRefusedAttempt(db: Reader, paymentId: string): Promise<RefusedAttempt | undefined> {
  const [row] = await db<RefusedAttempt[]>`
    select refusal, deadline from items
    where subject = ${paymentId} and state = 'due' and refusal is not null order by deadline desc limit 1`;
  return row;
}

/** True if the network has open items: offered to a payer, due, or sent. */
export async function hasOpenItems(db: Reader, network: string): Promise<boolean> {
  const rows = await db<{ found: boolean }[]>`
    select exists (select from items where network = ${network} and state in ('offered', 'due', 'sent')) as found`;
  return one(rows).found;
}

/**
 * Reopens paid items whose block has left the chain. An item with a signature is due again, and a coin item without one waits for the
 * payer's transaction again.
 */
export async function reviveItems(tx: Tx, keys: readonly ItemKey[]): Promise<RevivedItem[]> {
  return tx<RevivedItem[]>`
    update items set state = case when signature is null then 'offered' else 'due' end, ended_at = null, retry_at = null
    where commitment = any(${keys as ItemKey[]}::text[]) and state = 'paid'
    returning subject, purpose`;
}

export type RevivedItem = Pick<StoredItem, 'subject' | 'purpose'>;

/** Makes sent items due again if all their sends are final. An event seemed to have paid them, but it was not on the chain. */
export async function releaseItems(tx: Tx, keys: readonly ItemKey[]): Promise<void> {
  await tx`
    update items i set state = 'due', retry_at = null
    where i.commitment = any(${keys as ItemKey[]}::text[]) and i.state = 'sent'
      and not exists (
        select from relay_items si join relay_sends s on s.network = si.network and s.signer = si.signer and s.slot = si.slot
        where si.commitment = i.commitment and s.state = 'open')
      and not exists (select from chain_events e where e.commitment = i.commitment and e.type = 'paid')`;
}

/** Locks a due item. Returns true if the item was never in a stored transaction: then nobody outside can have seen its signature. */
export async function lockUnsentItem(tx: Tx, key: ItemKey): Promise<boolean> {
  const locked = await tx`select from items where commitment = ${key} and state = 'due' for update`;
  if (locked.length === 0) return false;
  const sent = await tx`select from relay_items where commitment = ${key} limit 1`;
  return sent.length === 0;
}

/** The number of items whose outcome should have been decided by `before` and is still open. */
export async function countUndetermined(db: Reader, { network, before }: { network: string; before: Date }) {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from items i left join payments p on p.id = i.subject and i.purpose = 'payment'
    where i.network = ${network} and i.state in ('offered', 'due', 'sent') and i.deadline < ${before}
      and (i.purpose <> 'payment' or p.expires_at < ${before} or p.status <> 'requires_action')`;
  return row?.count ?? 0;
}
