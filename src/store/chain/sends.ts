import type { ItemKey } from '../../domain/item.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import { type ItemPurpose, itemColumns, type StoredItem } from './items.ts';

export interface SenderId {
  readonly network: string;
  readonly signer: string;
}

/** A nonce that is not mined at final depth yet, with its signed version of the highest fee. */
export interface OpenSend {
  readonly nonce: number;
  readonly kind: SendKind;
  readonly lane: Lane;
  readonly createdAt: Date;
  readonly hash: string;
  readonly maxFee: bigint;
  readonly tip: bigint;
  /** The time at which that version was signed. */
  readonly signedAt: Date;
}

export type SendKind = 'batch' | 'nothing';

/** apart: items of accounts that have code or failed before. They are isolated and get a bounded share of all resources. */
export type Lane = 'main' | 'apart';

export interface NewVersion {
  readonly nonce: number;
  readonly hash: string;
  readonly bytes: string;
  readonly maxFee: bigint;
  readonly tip: bigint;
  readonly gasLimit: bigint;
}

/** The upper bound is exclusive. */
export interface NonceRange {
  readonly from: number;
  readonly to: number;
}

/** The open sends, in the order of nonces. The bytes are not read, because they are large and seldom needed. */
export async function listOpenSends(
  db: Reader,
  { network, signer }: SenderId,
  { from, to }: NonceRange,
): Promise<OpenSend[]> {
  const rows = await db<(Record<'nonce' | 'maxFee' | 'tip', string> & Omit<OpenSend, 'nonce' | 'maxFee' | 'tip'>)[]>`
    select s.nonce, s.kind, s.lane, s.created_at as "createdAt", v.hash, v.max_fee as "maxFee", v.tip, v.created_at as "signedAt"
    from sends s, lateral (
      select hash, max_fee, tip, created_at from send_versions v
      where v.network = s.network and v.signer = s.signer and v.nonce = s.nonce
      order by v.max_fee desc, v.tip desc limit 1
    ) v
    where s.network = ${network} and s.signer = ${signer} and s.state = 'open'
      and s.nonce >= ${from} and s.nonce < ${to}
    order by s.nonce`;
  return rows.map((row) => ({
    ...row,
    nonce: Number(row.nonce),
    maxFee: BigInt(row.maxFee),
    tip: BigInt(row.tip),
  }));
}

/** The highest nonce ever used, below `below` if it is given. */
export async function lastNonce(
  db: Reader,
  { network, signer }: SenderId,
  below?: number,
): Promise<number | undefined> {
  const isBelow = below === undefined ? db`true` : db`nonce < ${below}`;
  const [row] = await db<{ nonce: string | null }[]>`
    select max(nonce) as nonce from sends where network = ${network} and signer = ${signer} and ${isBelow}`;
  return row === undefined || row.nonce === null ? undefined : Number(row.nonce);
}

/** The lowest nonce ever used. */
export async function firstNonce(db: Reader, { network, signer }: SenderId): Promise<number | undefined> {
  const [row] = await db<{ nonce: string }[]>`
    select nonce from sends where network = ${network} and signer = ${signer} order by nonce limit 1`;
  return row && Number(row.nonce);
}

export async function lastFinalNonce(db: Reader, { network, signer }: SenderId): Promise<number | undefined> {
  const [row] = await db<{ nonce: string }[]>`
    select nonce from sends where network = ${network} and signer = ${signer} and state = 'final'
    order by nonce desc limit 1`;
  return row && Number(row.nonce);
}

/** Reserves a nonce, and stores its first signed transaction and the items in it. */
export async function insertSend(
  tx: Tx,
  { network, signer }: SenderId,
  send: NewVersion & { kind: SendKind; lane?: Lane; fencing: number; keys: readonly ItemKey[]; at: Date },
): Promise<void> {
  await tx`
    insert into sends (network, signer, nonce, kind, lane, fencing, created_at, state)
    values (${network}, ${signer}, ${send.nonce}, ${send.kind}, ${send.lane ?? 'main'}, ${send.fencing}, ${send.at}, 'open')`;
  await insertVersion(tx, { network, signer }, send, send.at);
  if (send.keys.length === 0) return;
  await tx`
    insert into send_items (network, signer, nonce, position, commitment)
    select ${network}, ${signer}, ${send.nonce}, c.position - 1, c.key
    from unnest(${send.keys as ItemKey[]}::text[]) with ordinality as c(key, position)`;
}

/** Stores a further signed transaction for a reserved nonce. */
export async function insertVersion(
  tx: Tx,
  { network, signer }: SenderId,
  version: NewVersion,
  at: Date,
): Promise<void> {
  const { nonce, hash, bytes, maxFee, tip, gasLimit } = version;
  await tx`
    insert into send_versions (hash, network, signer, nonce, bytes, max_fee, tip, gas_limit, created_at)
    values (${hash}, ${network}, ${signer}, ${nonce}, ${bytes}, ${maxFee.toString()}, ${tip.toString()},
      ${gasLimit.toString()}, ${at})
    on conflict (hash) do nothing`;
}

/** Records that the version is about to be broadcast, and returns its bytes, unless they were pruned. No other bytes are ever broadcast. */
export async function takeBytes(tx: Tx, hash: string, at: Date): Promise<string | undefined> {
  const [row] = await tx<{ bytes: string }[]>`
    update send_versions set broadcast_at = coalesce(broadcast_at, ${at})
    where hash = ${hash} and bytes <> '' returning bytes`;
  return row?.bytes;
}

/** The items of a send that it can still pay. */
export function findLiveItems(db: Reader, { network, signer }: SenderId, nonce: number): Promise<StoredItem[]> {
  return db<StoredItem[]>`
    select ${itemColumns(db)} from items
    where state = 'sent' and commitment in (
      select commitment from send_items where network = ${network} and signer = ${signer} and nonce = ${nonce})
    order by accepted_at, key`;
}

/** Reopens sends that a reorg deeper than final depth removed from the chain. Their transactions are broadcast again. */
export async function reopenSends(tx: Tx, { network, signer }: SenderId, { from, to }: NonceRange): Promise<number> {
  const { count } = await tx`
    update sends set state = 'open', final_hash = null, gas_spent = null, coin_spent = null
    where network = ${network} and signer = ${signer} and nonce >= ${from} and nonce < ${to} and state = 'final'`;
  return count;
}

export interface SendToFinish {
  readonly signer: string;
  readonly nonce: number;
  readonly hashes: readonly string[];
}

/** More than the accounts of a network have in flight. */
const MAX_SENDS_TO_FINISH = 500;

/** The oldest open nonces of a network. Signers take turns, so that one whose nonces are never mined delays no other. */
export async function listSendsToFinish(db: Reader, network: string): Promise<SendToFinish[]> {
  const rows = await db<{ signer: string; nonce: string; hashes: string[] }[]>`
    select s.signer, s.nonce, (
      select json_agg(v.hash order by v.max_fee desc) from send_versions v
      where v.network = s.network and v.signer = s.signer and v.nonce = s.nonce) as hashes
    from sends s where s.network = ${network} and s.state = 'open'
    order by row_number() over (partition by s.signer order by s.nonce), s.signer limit ${MAX_SENDS_TO_FINISH}`;
  return rows.map(({ signer, nonce, hashes }) => ({ signer, nonce: Number(nonce), hashes }));
}

export interface FinishedSend {
  readonly signer: string;
  readonly nonce: number;
  /** The mined version. Null when a foreign transaction used the nonce. */
  readonly hash: string | null;
  readonly gasSpent: bigint;
  /** The gas cost, in the smallest unit of the coin. */
  readonly coinSpent: bigint;
}

/** An item that is due again. */
export interface ReleasedItem {
  readonly payer: string;
  readonly purpose: ItemPurpose;
  /** True if the failure is the item's own: our mined transaction refused the item, or contained no other item. */
  readonly isFailure: boolean;
}

/**
 * Closes sends at final depth and records their gas, of which each item gets an equal share. Items that are still open, and in no
 * other open send, are due again, because the transaction reverted or refused the item. `delaysMs` is the pause of an item by the
 * number of its attempts so far. The last delay applies to all further attempts.
 */
export async function finishSends(
  tx: Tx,
  network: string,
  sends: readonly FinishedSend[],
  { at, delaysMs }: { at: Date; delaysMs: readonly number[] },
): Promise<ReleasedItem[]> {
  const rows = sends.map(({ signer, nonce, hash, gasSpent, coinSpent }) => ({
    signer,
    nonce,
    hash,
    gas: gasSpent.toString(),
    coin: coinSpent.toString(),
  }));
  const items = await tx<(ReleasedItem & { isReleased: boolean })[]>`
    with done as (
      update sends s set state = 'final', final_hash = d.hash, gas_spent = d.gas, coin_spent = d.coin
      from jsonb_to_recordset(${tx.json(rows as never)}) as d(signer text, nonce bigint, hash text, gas numeric, coin numeric)
      where s.network = ${network} and s.signer = d.signer and s.nonce = d.nonce and s.state = 'open'
      returning s.signer, s.nonce, s.final_hash, s.gas_spent
    ), carried as (
      select si.commitment, d.final_hash, count(*) over (partition by d.signer, d.nonce) as company, d.gas_spent
      from done d join send_items si on si.network = ${network} and si.signer = d.signer and si.nonce = d.nonce
    ), facts as (
      select c.commitment, sum(div(c.gas_spent, c.company)) as gas, max(e.fields ->> 'reason') as reason,
        bool_or(c.final_hash is not null and (c.company = 1 or e.commitment is not null)) as is_failure
      from carried c left join chain_events e on e.network = ${network} and e.transaction_hash = c.final_hash
        and e.commitment = c.commitment and e.type = 'refused'
      group by c.commitment
    ), fates as (
      select f.*, i.state = 'sent'
        and not exists (
          select from send_items o join sends s on s.network = o.network and s.signer = o.signer and s.nonce = o.nonce
          where o.commitment = i.commitment and s.state = 'open'
            and not exists (select from done x where x.signer = s.signer and x.nonce = s.nonce and s.network = ${network}))
        and not exists (select from chain_events e where e.commitment = i.commitment and e.type = 'paid') as is_released
      from facts f join items i on i.commitment = f.commitment
    )
    update items i set gas_spent = i.gas_spent + f.gas,
      state = case when is_released then 'due' else i.state end,
      attempts = i.attempts + is_released::int,
      failures = i.failures + (is_released and is_failure)::int,
      refusal = case when is_released and is_failure then coalesce(f.reason, 'unknown') else i.refusal end,
      retry_at = case when is_released then ${at}::timestamptz
        + (${delaysMs.map(String)}::text[]::int[])[least(i.attempts + 1, ${delaysMs.length}::int)] * interval '1 ms'
        else i.retry_at end
    from fates f where i.commitment = f.commitment
    returning i.payer, i.purpose, f.is_failure as "isFailure", f.is_released as "isReleased"`;
  return items.filter(({ isReleased }) => isReleased);
}

export interface CarryingTransaction {
  readonly network: string;
  readonly hash: string;
}

/** The transaction that paid a payment. Until one is seen, the last transaction that was broadcast for it. */
export async function findCarryingTransaction(db: Reader, paymentId: string): Promise<CarryingTransaction | undefined> {
  const [row] = await db<CarryingTransaction[]>`
    select i.network, t.hash from items i, lateral (
      select e.transaction_hash as hash, true as is_seen, null as broadcast_at, null as max_fee from chain_events e
      where e.commitment = i.commitment and e.network = i.network and e.type = 'paid' and e.problem is null
      union all
      select v.hash, false, v.broadcast_at, v.max_fee
      from send_items c
      join sends s on s.network = c.network and s.signer = c.signer and s.nonce = c.nonce and s.state = 'open'
      join send_versions v on v.network = s.network and v.signer = s.signer and v.nonce = s.nonce
      where c.commitment = i.commitment and v.broadcast_at is not null
    ) t
    where i.subject = ${paymentId} and i.purpose = 'payment'
    order by t.is_seen desc, t.broadcast_at desc, t.max_fee desc limit 1`;
  return row;
}

export async function noncesOf(db: Reader, hashes: readonly string[]): Promise<Map<string, number>> {
  const rows = await db<{ hash: string; nonce: string }[]>`
    select hash, nonce from send_versions where hash = any(${hashes as string[]}::text[])`;
  return new Map(rows.map(({ hash, nonce }) => [hash, Number(nonce)]));
}

/** The nonces of these transactions, if the sender has rows for them. */
export async function findSentNonces(
  db: Reader,
  { network, signer }: SenderId,
  hashes: readonly string[],
): Promise<{ hash: string; nonce: number }[]> {
  const rows = await db<{ hash: string; nonce: string }[]>`
    select hash, nonce from send_versions
    where hash = any(${hashes as string[]}::text[]) and network = ${network} and signer = ${signer}`;
  return rows.map(({ hash, nonce }) => ({ hash, nonce: Number(nonce) }));
}

/** A range of nonces without a known transaction, between two accounted nonces. */
export interface NonceGap {
  readonly after: number;
  readonly before: number;
}

/**
 * The gaps in a sender's nonces, up to the next nonce that the chain expects. A nonce is accounted for if its send is open, if its
 * mined version is known, or if its transaction was found.
 */
export async function findNonceGaps(
  db: Reader,
  { network, signer }: SenderId,
  { found, end }: { readonly found: readonly number[]; readonly end: number },
): Promise<NonceGap[]> {
  const rows = await db<{ after: string; before: string }[]>`
    select nonce as after, next as before from (
      select nonce, lead(nonce) over (order by nonce) as next from (
        select nonce from sends
        where network = ${network} and signer = ${signer} and (state = 'open' or final_hash is not null)
        union select unnest(${found.map(String)}::text[])::bigint
        union select ${end}::bigint
      ) as accounted
    ) as pairs where next > nonce + 1 order by nonce`;
  return rows.map(({ after, before }) => ({ after: Number(after), before: Number(before) }));
}

/** The number of nonces that are reserved and not mined at final depth. */
export async function countOpenSends(db: Reader, { network, signer }: SenderId): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from sends where network = ${network} and signer = ${signer} and state = 'open'`;
  return row?.count ?? 0;
}
