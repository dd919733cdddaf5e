import type { Reader, Tx } from '../plumbing/database.ts';
import { itemColumns, type StoredItem } from './items.ts';

/** A network and a signer on it. */
export interface SenderId {
  readonly network: string;
  readonly signer: string;
}

/** A nonce that is not mined at final depth yet, with the best version that was signed for it. */
export interface OpenSend {
  readonly nonce: number;
  readonly kind: SendKind;
  readonly createdAt: Date;
  readonly hash: string;
  readonly maxFee: bigint;
  readonly tip: bigint;
  /** When that version was signed. */
  readonly signedAt: Date;
}

export type SendKind = 'batch' | 'nothing';

export interface NewVersion {
  readonly nonce: number;
  readonly hash: string;
  readonly bytes: string;
  readonly maxFee: bigint;
  readonly tip: bigint;
  readonly gasLimit: bigint;
}

/** In the order of their nonces. The bytes stay in the database: they are large, and seldom needed. */
export async function listOpenSends(db: Reader, { network, signer }: SenderId, fromNonce: number): Promise<OpenSend[]> {
  const rows = await db<(Record<'nonce' | 'maxFee' | 'tip', string> & Omit<OpenSend, 'nonce' | 'maxFee' | 'tip'>)[]>`
    select s.nonce, s.kind, s.created_at as "createdAt", v.hash, v.max_fee as "maxFee", v.tip, v.created_at as "signedAt"
    from sends s, lateral (
      select hash, max_fee, tip, created_at from send_versions v
      where v.network = s.network and v.signer = s.signer and v.nonce = s.nonce
      order by v.max_fee desc, v.tip desc limit 1
    ) v
    where s.network = ${network} and s.signer = ${signer} and s.state = 'open' and s.nonce >= ${fromNonce}
    order by s.nonce`;
  return rows.map((row) => ({
    ...row,
    nonce: Number(row.nonce),
    maxFee: BigInt(row.maxFee),
    tip: BigInt(row.tip),
  }));
}

/** The highest nonce that was ever taken. */
export async function lastNonce(db: Reader, { network, signer }: SenderId): Promise<number | undefined> {
  const [row] = await db<{ nonce: string | null }[]>`
    select max(nonce) as nonce from sends where network = ${network} and signer = ${signer}`;
  return row === undefined || row.nonce === null ? undefined : Number(row.nonce);
}

/** Takes a nonce, together with the first signed transaction that uses it and the items it carries. */
export async function insertSend(
  tx: Tx,
  { network, signer }: SenderId,
  send: NewVersion & { kind: SendKind; fencing: number; commitments: readonly string[]; at: Date },
): Promise<void> {
  await tx`
    insert into sends (network, signer, nonce, kind, fencing, created_at, state)
    values (${network}, ${signer}, ${send.nonce}, ${send.kind}, ${send.fencing}, ${send.at}, 'open')`;
  await insertVersion(tx, { network, signer }, send, send.at);
  if (send.commitments.length === 0) return;
  await tx`
    insert into send_items (network, signer, nonce, position, commitment)
    select ${network}, ${signer}, ${send.nonce}, c.position - 1, c.commitment
    from unnest(${send.commitments as string[]}::text[]) with ordinality as c(commitment, position)`;
}

/** Stores one more signed transaction for a nonce that is taken. */
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

/** Notes that the version is about to leave, and returns its bytes: the only ones that are ever broadcast. */
export async function takeBytes(tx: Tx, hash: string, at: Date): Promise<string | undefined> {
  const [row] = await tx<{ bytes: string }[]>`
    update send_versions set broadcast_at = coalesce(broadcast_at, ${at}) where hash = ${hash} returning bytes`;
  return row?.bytes;
}

/** The items of a send that can still be paid by it. */
export function findLiveItems(db: Reader, { network, signer }: SenderId, nonce: number): Promise<StoredItem[]> {
  return db<StoredItem[]>`
    select ${itemColumns(db)} from items
    where state = 'sent' and commitment in (
      select commitment from send_items where network = ${network} and signer = ${signer} and nonce = ${nonce})
    order by accepted_at, commitment`;
}

/** Reopens sends that a reorg deeper than final depth removed from the chain. They are sent again. */
export async function reopenSends(tx: Tx, { network, signer }: SenderId, fromNonce: number): Promise<number> {
  const { count } = await tx`
    update sends set state = 'open', final_hash = null
    where network = ${network} and signer = ${signer} and nonce >= ${fromNonce} and state = 'final'`;
  return count;
}

/** An open nonce with every transaction that was signed for it. */
export interface SendToFinish {
  readonly signer: string;
  readonly nonce: number;
  readonly hashes: readonly string[];
}

/** The oldest open nonces of a network. */
export async function listSendsToFinish(db: Reader, network: string, limit: number): Promise<SendToFinish[]> {
  const rows = await db<{ signer: string; nonce: string; hashes: string[] }[]>`
    select s.signer, s.nonce, (
      select json_agg(v.hash order by v.max_fee desc) from send_versions v
      where v.network = s.network and v.signer = s.signer and v.nonce = s.nonce) as hashes
    from sends s where s.network = ${network} and s.state = 'open'
    order by s.signer, s.nonce limit ${limit}`;
  return rows.map(({ signer, nonce, hashes }) => ({ signer, nonce: Number(nonce), hashes }));
}

export interface FinishedSend {
  readonly signer: string;
  readonly nonce: number;
  /** The version that was mined. Null when a foreign transaction used the nonce. */
  readonly hash: string | null;
}

/**
 * Closes sends of final depth. Their items that are still open, and in no other open send, are due again: the whole
 * transaction reverted, or refused the item. `delaysMs` is the pause of an item by the number of its failures so far; the
 * last one is for all that have more.
 */
export async function finishSends(
  tx: Tx,
  network: string,
  sends: readonly FinishedSend[],
  { at, delaysMs }: { at: Date; delaysMs: readonly number[] },
): Promise<number> {
  const [row] = await tx<{ released: number }[]>`
    with done as (
      update sends s set state = 'final', final_hash = d.hash
      from jsonb_to_recordset(${tx.json(sends as never)}) as d(signer text, nonce bigint, hash text)
      where s.network = ${network} and s.signer = d.signer and s.nonce = d.nonce and s.state = 'open'
      returning s.signer, s.nonce
    ), released as (
      update items i set state = 'due', attempts = i.attempts + 1, retry_at = ${at}::timestamptz
        + (${delaysMs.map(String)}::text[]::int[])[least(i.attempts + 1, ${delaysMs.length}::int)] * interval '1 ms'
      from done d join send_items si on si.network = ${network} and si.signer = d.signer and si.nonce = d.nonce
      where i.commitment = si.commitment and i.state = 'sent'
        and not exists (
          select from send_items o join sends s on s.network = o.network and s.signer = o.signer and s.nonce = o.nonce
          where o.commitment = i.commitment and s.state = 'open'
            and not exists (select from done x where x.signer = s.signer and x.nonce = s.nonce and s.network = ${network}))
        and not exists (select from chain_events e where e.commitment = i.commitment and e.type = 'paid')
      returning 1
    )
    select count(*)::int as released from released`;
  return row?.released ?? 0;
}

/** The transaction of a payment. */
export interface CarryingTransaction {
  readonly network: string;
  readonly hash: string;
}

/** The transaction that paid a payment. Until one is seen, the transaction that was last broadcast for it. */
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

/** The nonces of our transactions, by hash. */
export async function noncesOf(db: Reader, hashes: readonly string[]): Promise<Map<string, number>> {
  const rows = await db<{ hash: string; nonce: string }[]>`
    select hash, nonce from send_versions where hash = any(${hashes as string[]}::text[])`;
  return new Map(rows.map(({ hash, nonce }) => [hash, Number(nonce)]));
}

/** The nonces of these transactions, as far as the sender has rows for them. */
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

/** Nonces that nothing accounts for, between two that are accounted for. */
export interface NonceGap {
  readonly after: number;
  readonly before: number;
}

/**
 * The gaps in a sender's nonces, up to the next one that the chain expects. A nonce is accounted for by a send that is open or
 * whose mined version is known, or because its transaction was found.
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

/** The number of nonces that are taken and not mined at final depth. */
export async function countOpenSends(db: Reader, { network, signer }: SenderId): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from sends where network = ${network} and signer = ${signer} and state = 'open'`;
  return row?.count ?? 0;
}
