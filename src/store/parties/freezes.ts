import type { FreezeScope } from '../../domain/freeze.ts';
import { one, type Reader, type Tx } from '../plumbing/database.ts';
import { limitLockWait } from '../plumbing/locks.ts';

export interface Freeze {
  readonly scope: FreezeScope;
  /** The id of the merchant, partner, network or asset that is frozen. Empty for a freeze of all payouts or of all refunds. */
  readonly subject: string;
  readonly reason: string;
  readonly actor: string;
  readonly since: Date;
}

/**
 * The longest wait for the lock. Database transactions that move money take milliseconds. If one hangs, the waiting freeze would block all
 * others behind it.
 */
const MAX_WAIT_MS = 10_000;

/**
 * Locks the freezes for a change: waits for every database transaction that has a share lock on them, and blocks new ones. After the
 * commit, nothing that the freeze stops is accepted or sent. Call this first in a transaction. If the transaction already had other locks,
 * other transactions would wait for those as well.
 */
export async function lockFreezes(tx: Tx): Promise<void> {
  await limitLockWait(tx, MAX_WAIT_MS);
  await lockFreezeTable(tx);
}

/** Locks the freezes for a change, without a limit of the wait. The caller sets its own limit. */
export async function lockFreezeTable(tx: Tx): Promise<void> {
  // Unlike ACCESS EXCLUSIVE, this lock mode does not wait for a backup, which only reads the table.
  await tx`lock table freezes in exclusive mode`;
}

/**
 * Locks the freezes against changes until the database transaction ends. Every change of a freeze takes the EXCLUSIVE mode first
 * (`lockFreezes`), which waits for the ROW SHARE mode. Callers of this function do not wait for each other.
 */
export async function shareFreezeTable(tx: Tx): Promise<void> {
  await tx`lock table freezes in row share mode`;
}

/** Stores a freeze. Returns false if the subject is already frozen in this scope. */
export async function insertFreeze(tx: Tx, freeze: Freeze): Promise<boolean> {
  const { count } = await tx`
    insert into freezes (scope, subject, reason, actor, since)
    values (${freeze.scope}, ${freeze.subject}, ${freeze.reason}, ${freeze.actor}, ${freeze.since})
    on conflict do nothing`;
  return count === 1;
}

/** Deletes a freeze and returns it. Undefined if there is none. */
export async function deleteFreeze(
  tx: Tx,
  { scope, subject }: Pick<Freeze, 'scope' | 'subject'>,
): Promise<Freeze | undefined> {
  const [row] = await tx<Freeze[]>`
    delete from freezes where scope = ${scope} and subject = ${subject} returning ${columns(tx)}`;
  return row;
}

/** True if a database was restored and the network was not rebuilt since. Without `network`, true if that applies to any network. */
export async function isRestoring(db: Reader, network?: string): Promise<boolean> {
  const rows = await db`
    select from freezes where scope = 'restored' and subject = coalesce(${network ?? null}, subject) limit 1`;
  return rows.length > 0;
}

export function listFreezes(db: Reader): Promise<Freeze[]> {
  return db<Freeze[]>`select ${columns(db)} from freezes order by since, scope, subject`;
}

/** The names of all freezes that operators had ordered at one time. If one of them is missing in the table, no money moves. */
export interface FreezeHead {
  readonly number: string;
  readonly freezes: readonly string[];
  /** The MAC that proves that the gateway wrote the row. */
  readonly mac: string;
}

/**
 * The largest number of `freeze_heads` rows that are read. Somebody else may have added forged rows above the newest genuine row. If there
 * are more forged rows than this, the genuine row is not found, and no money moves.
 */
const MAX_HEADS = 100;

/** The newest head (null if there is none) and the names of the freezes in the table, from one snapshot. */
export async function readFreezeState(db: Reader): Promise<{ head: FreezeHead | null; names: readonly string[] }> {
  return one(
    await db<{ head: FreezeHead | null; names: string[] }[]>`
      select (select json_build_object(${headFields(db)}) from freeze_heads order by number desc limit 1) as head,
        to_json(array(select ${nameOf(db)} from freezes)) as names`,
  );
}

/** The heads of the freezes, the newest first. */
export async function findFreezeHeads(db: Reader): Promise<FreezeHead[]> {
  const rows = await db<{ head: FreezeHead }[]>`
    select json_build_object(${headFields(db)}) as head from freeze_heads order by number desc limit ${MAX_HEADS}`;
  return rows.map(({ head }) => head);
}

export async function insertFreezeHead(tx: Tx, { number, freezes, mac }: FreezeHead): Promise<void> {
  await tx`insert into freeze_heads (number, freezes, mac) values (${number}, ${[...freezes]}, ${mac})`;
}

export interface NetworkStop {
  readonly network: string;
  readonly isFrozen: boolean;
}

/** Tells for each of the networks whether it is frozen. */
export function findNetworkStops(db: Reader, networks: readonly string[]): Promise<NetworkStop[]> {
  return db<NetworkStop[]>`
    select network, exists (select from freezes f where f.scope = 'network' and f.subject = network) as "isFrozen"
    from unnest(${networks as string[]}::text[]) as network`;
}

/** The given merchants and networks that are stopped: suspended or frozen. */
export function findStopped(db: Reader, ids: readonly string[]): Promise<Set<string>> {
  return findWhere(db, ids, isMerchantStopped(db));
}

/** The given merchants and networks that accept no money: they are stopped or deleted, or their partner is disabled. */
export function findClosed(db: Reader, ids: readonly string[]): Promise<Set<string>> {
  return findWhere(db, ids, isMerchantClosed(db));
}

async function findWhere(db: Reader, ids: readonly string[], condition: ReturnType<Reader>): Promise<Set<string>> {
  const rows = await db<{ id: string }[]>`
    select m.id from merchants m where m.id = any(${ids as string[]}::text[]) and ${condition}
    union all
    select f.subject from freezes f where f.scope = 'network' and f.subject = any(${ids as string[]}::text[])`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * The SQL condition that the merchant `m` is suspended, or that the merchant or its partner is frozen. Usually no freeze exists. PostgreSQL
 * evaluates the first subquery once per statement, and then reads no further rows.
 */
function isMerchantStopped<Fragment>(sql: (text: TemplateStringsArray) => Fragment): Fragment {
  return sql`(m.status = 'suspended' or (select exists (select from freezes)) and exists (
    select from freezes f
    where f.scope = 'merchant' and f.subject = m.id or f.scope = 'partner' and f.subject = m.partner_id))`;
}

/**
 * The SQL condition that the merchant `m` accepts no money: it is stopped or deleted, or its partner is disabled. Money that was accepted
 * before is still paid out, unless the merchant is stopped.
 */
export function isMerchantClosed<Fragment>(
  sql: (text: TemplateStringsArray, ...values: Fragment[]) => Fragment,
): Fragment {
  return sql`(m.deleted_at is not null or ${isMerchantStopped(sql)}
    or exists (select from partners owner where owner.id = m.partner_id and owner.disabled_at is not null))`;
}

/**
 * The SQL condition that freezes stop the transfer `o` out of our accounts. Only the freeze of its network or its asset stops a return that
 * an operator ordered. A return that a partner requested is stopped like a refund.
 */
export function isOutgoingStopped(db: Reader) {
  const isOperators = db`(o.purpose = 'return'
    and not exists (select from strays s where s.id = o.id and s.recipient is not null))`;
  return db`(exists (
      select from freezes f
      where f.scope = 'network' and f.subject = o.network
        or f.scope = 'asset' and f.subject = o.asset
        or f.scope = 'restored' and f.subject = o.network and not ${isOperators}
        or f.scope = 'payouts' and o.purpose = 'payout'
        or f.scope = 'refunds' and o.purpose <> 'payout' and not ${isOperators})
    or not ${isOperators}
      and exists (select from merchants m where m.id = o.merchant_id and ${isMerchantStopped(db)})
      and not exists (select from refunds r where r.id = o.id and r.is_operators))`;
}

/**
 * The SQL condition that a partner's request to return the unexpected money `s` is stopped. Freezes stop it. A closed merchant stops it as
 * well, because the partner has named the account that gets the money.
 */
export function isReturnStopped(db: Reader) {
  return db`(s.recipient is not null and (
    exists (
      select from freezes f
      where f.scope = 'refunds' or f.scope in ('network', 'restored') and f.subject = s.network
        or f.scope = 'asset' and f.subject = s.asset)
    or exists (select from merchants m where m.id = s.merchant_id and ${isMerchantClosed(db)})))`;
}

/**
 * The SQL condition that the refund `r` is stopped. Freezes stop it. If the refund goes to another account than the payer's, a closed
 * merchant stops it as well.
 */
export function isRefundStopped(db: Reader) {
  return db`(exists (
      select from freezes f
      where f.scope = 'refunds' or f.scope in ('network', 'restored') and f.subject = r.network
        or f.scope = 'asset' and f.subject = r.asset)
    or not r.is_operators and exists (
      select from merchants m where m.id = r.merchant_id
        and (${isMerchantStopped(db)} or r.send_after is not null and ${isMerchantClosed(db)})))`;
}

/** The SQL condition that freezes stop the payout of the lot `p`. */
export function isPayoutStopped(db: Reader) {
  return db`(exists (
      select from freezes f
      where f.scope = 'payouts' or f.scope in ('network', 'restored') and f.subject = p.network
        or f.scope = 'asset' and f.subject = p.asset)
    or exists (select from merchants m where m.id = p.merchant_id and ${isMerchantStopped(db)}))`;
}

/** The SQL condition that freezes stop relayers from sending the row of `items`. */
export function isItemStopped(db: Reader) {
  return db`case when items.purpose in ('payment', 'sweep')
    then exists (select from freezes f where f.scope = 'network' and f.subject = items.network)
      or exists (
        select from payments p join merchants m on m.id = p.merchant_id
        where p.id = items.subject and ${isMerchantStopped(db)})
    else exists (select from outgoing o where o.id = items.subject and ${isOutgoingStopped(db)})
    end`;
}

function headFields(db: Reader) {
  return db`'number', number::text, 'freezes', freezes, 'mac', mac`;
}

/** The SQL name of a freeze: its scope and its subject. The freezes of all payouts and of all refunds have no subject. */
function nameOf(db: Reader) {
  return db`rtrim(scope || ' ' || subject)`;
}

function columns(db: Reader) {
  return db`scope, subject, reason, actor, since`;
}
