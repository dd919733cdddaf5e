import type { ItemKey } from '../../domain/item.ts';
import type { Offer } from '../../domain/offer.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import { type ItemPurpose, itemColumns, type StoredItem } from './items.ts';

export interface SenderId {
  readonly network: string;
  readonly signer: string;
}

/**
 * A slot of a relayer (on EVM chains a nonce) that no final transaction has used, with its signed version of the highest price. A version
 * whose bytes were pruned is chosen only if no other version is left.
 */
export interface OpenSend {
  readonly slot: number;
  readonly kind: SendKind;
  readonly lane: Lane;
  readonly createdAt: Date;
  readonly hash: string;
  readonly offer: Offer;
  /** The time at which this version was signed. */
  readonly signedAt: Date;
  /** True if the bytes of all versions of the slot were pruned. */
  readonly isPruned: boolean;
}

export type SendKind = 'batch' | 'nothing';

/**
 * The lane of a send. `isolated`: the items of accounts that have code or failed before, which get a bounded share of all resources. The
 * database column has the value `apart` for it.
 */
export type Lane = 'main' | 'isolated';

export interface NewVersion {
  readonly slot: number;
  readonly hash: string;
  readonly bytes: string;
  readonly offer: Offer;
  /** The highest possible cost of the transaction, in the smallest unit of the coin. */
  readonly cost: bigint;
}

/** A range of slots: `from` is included, and `to` is not. */
export interface SlotRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The open sends of a signer, in the order of slots. The signed bytes are not read, because they are large and seldom needed. Versions that
 * were final at migration 0067 have their offer's terms only in the old column `tip`. It is read if a deep reorg reopens their slot.
 */
export async function listOpenSends(
  db: Reader,
  { network, signer }: SenderId,
  { from, to }: SlotRange,
): Promise<OpenSend[]> {
  const rows = await db<(OpenSendRow & Omit<OpenSend, 'slot' | 'offer'>)[]>`
    select s.slot, s.kind, case s.lane when 'apart' then 'isolated' else 'main' end as lane, s.created_at as "createdAt", v.hash, v.price, v.terms,
      v.created_at as "signedAt", v.is_pruned as "isPruned"
    from relay_sends s, lateral (
      select hash, price, coalesce(terms, jsonb_build_object('tip', tip::text)) as terms, created_at, bytes = '' as is_pruned
      from relay_versions v
      where v.network = s.network and v.signer = s.signer and v.slot = s.slot
      order by is_pruned, v.price desc, v.created_at desc limit 1
    ) v
    where s.network = ${network} and s.signer = ${signer} and s.state = 'open'
      and s.slot >= ${from} and s.slot < ${to}
    order by s.slot`;
  return rows.map(({ price, terms, ...row }) => ({
    ...row,
    slot: Number(row.slot),
    offer: { price: BigInt(price), terms },
  }));
}

interface OpenSendRow {
  readonly slot: string;
  readonly price: string;
  readonly terms: Offer['terms'];
}

/** The highest slot that the sender ever reserved, below `below` if that is given. */
export async function lastSlot(db: Reader, { network, signer }: SenderId, below?: number): Promise<number | undefined> {
  const isBelow = below === undefined ? db`true` : db`slot < ${below}`;
  const [row] = await db<{ slot: string | null }[]>`
    select max(slot) as slot from relay_sends where network = ${network} and signer = ${signer} and ${isBelow}`;
  return row === undefined || row.slot === null ? undefined : Number(row.slot);
}

/** The lowest slot that the sender ever reserved. */
export async function firstSlot(db: Reader, { network, signer }: SenderId): Promise<number | undefined> {
  const [row] = await db<{ slot: string }[]>`
    select slot from relay_sends where network = ${network} and signer = ${signer} order by slot limit 1`;
  return row && Number(row.slot);
}

export async function lastFinalSlot(db: Reader, { network, signer }: SenderId): Promise<number | undefined> {
  const [row] = await db<{ slot: string }[]>`
    select slot from relay_sends where network = ${network} and signer = ${signer} and state = 'final'
    order by slot desc limit 1`;
  return row && Number(row.slot);
}

/** Reserves a slot, and stores its first signed transaction and the items in that transaction. */
export async function insertSend(
  tx: Tx,
  { network, signer }: SenderId,
  send: NewVersion & { kind: SendKind; lane?: Lane; fencing: number; keys: readonly ItemKey[]; at: Date },
): Promise<void> {
  await tx`
    insert into relay_sends (network, signer, slot, kind, lane, fencing, created_at, state)
    values (${network}, ${signer}, ${send.slot}, ${send.kind}, ${send.lane === 'isolated' ? 'apart' : 'main'}, ${send.fencing}, ${send.at}, 'open')`;
  await insertVersion(tx, { network, signer }, send, send.at);
  if (send.keys.length === 0) return;
  await tx`
    insert into relay_items (network, signer, slot, position, commitment)
    select ${network}, ${signer}, ${send.slot}, c.position - 1, c.key
    from unnest(${send.keys as ItemKey[]}::text[]) with ordinality as c(key, position)`;
}

/**
 * Stores another signed transaction for a slot that is already reserved. The same transaction may be signed again after its bytes were
 * pruned.
 */
export async function insertVersion(
  tx: Tx,
  { network, signer }: SenderId,
  version: NewVersion,
  at: Date,
): Promise<void> {
  const { slot, hash, bytes, offer, cost } = version;
  await tx`
    insert into relay_versions (hash, network, signer, slot, bytes, price, terms, cost, created_at)
    values (${hash}, ${network}, ${signer}, ${slot}, ${bytes}, ${offer.price.toString()}, ${tx.json(offer.terms)},
      ${cost.toString()}, ${at})
    on conflict (hash) do update set bytes = excluded.bytes, created_at = excluded.created_at
      where relay_versions.bytes = ''`;
}

/**
 * Records that a signed transaction is about to be broadcast, and returns its bytes. Undefined if they were pruned. Relayers broadcast
 * only bytes that this function returned.
 */
export async function takeBytes(tx: Tx, hash: string, at: Date): Promise<string | undefined> {
  const [row] = await tx<{ bytes: string }[]>`
    update relay_versions set broadcast_at = coalesce(broadcast_at, ${at})
    where hash = ${hash} and bytes <> '' returning bytes`;
  return row?.bytes;
}

/** The items of a send that the send can still pay: they have the state `sent`. */
export function findLiveItems(db: Reader, { network, signer }: SenderId, slot: number): Promise<StoredItem[]> {
  return db<StoredItem[]>`
    select ${itemColumns(db)} from items
    where state = 'sent' and commitment in (
      select commitment from relay_items where network = ${network} and signer = ${signer} and slot = ${slot})
    order by accepted_at, key`;
}

/** Reopens sends that a reorg deeper than final depth has removed from the chain, so that relayers broadcast their transactions again. */
export async function reopenSends(tx: Tx, { network, signer }: SenderId, { from, to }: SlotRange): Promise<number> {
  const { count } = await tx`
    update relay_sends set state = 'open', final_hash = null, work_spent = null, coin_spent = null
    where network = ${network} and signer = ${signer} and slot >= ${from} and slot < ${to} and state = 'final'`;
  return count;
}

export interface SendToFinish {
  readonly signer: string;
  readonly slot: number;
  readonly hashes: readonly string[];
}

/** The largest number of open slots that are read at once. All accounts of a network together have fewer in flight. */
const MAX_SENDS_TO_FINISH = 500;

/** The oldest open slots of a network. Signers take turns, so that a signer whose slots are never mined does not delay the others. */
export async function listSendsToFinish(db: Reader, network: string): Promise<SendToFinish[]> {
  const rows = await db<{ signer: string; slot: string; hashes: string[] }[]>`
    select s.signer, s.slot, (
      select json_agg(v.hash order by v.price desc) from relay_versions v
      where v.network = s.network and v.signer = s.signer and v.slot = s.slot) as hashes
    from relay_sends s where s.network = ${network} and s.state = 'open'
    order by row_number() over (partition by s.signer order by s.slot), s.signer limit ${MAX_SENDS_TO_FINISH}`;
  return rows.map(({ signer, slot, hashes }) => ({ signer, slot: Number(slot), hashes }));
}

export interface FinishedSend {
  readonly signer: string;
  readonly slot: number;
  /** The hash of the mined version. Null if a transaction that the gateway did not make has used the slot. */
  readonly hash: string | null;
  /** The units of execution that the transaction used (on EVM chains gas). */
  readonly workSpent: bigint;
  /** The cost of the transaction, in the smallest unit of the coin. */
  readonly coinSpent: bigint;
}

/** An item that is due again after its send became final. */
export interface ReleasedItem {
  readonly payer: string;
  readonly purpose: ItemPurpose;
  /** True if the failure concerns only this item: our mined transaction refused it, or contained no other item. */
  readonly isFailure: boolean;
}

/**
 * Closes sends that are final, and divides their units of execution equally between their items. An item becomes due again if it is still
 * open and in no other open send: the transaction reverted, or refused the item. `delaysMs` has the pause of an item after its first
 * attempt, its second, and so on. The last pause applies to all further attempts.
 */
export async function finishSends(
  tx: Tx,
  network: string,
  sends: readonly FinishedSend[],
  { at, delaysMs }: { at: Date; delaysMs: readonly number[] },
): Promise<ReleasedItem[]> {
  const rows = sends.map(({ signer, slot, hash, workSpent, coinSpent }) => ({
    signer,
    slot,
    hash,
    work: workSpent.toString(),
    coin: coinSpent.toString(),
  }));
  const items = await tx<(ReleasedItem & { isReleased: boolean })[]>`
    with done as (
      update relay_sends s set state = 'final', final_hash = d.hash, work_spent = d.work, coin_spent = d.coin
      from jsonb_to_recordset(${tx.json(rows as never)}) as d(signer text, slot bigint, hash text, work numeric, coin numeric)
      where s.network = ${network} and s.signer = d.signer and s.slot = d.slot and s.state = 'open'
      returning s.signer, s.slot, s.final_hash, s.work_spent
    ), carried as (
      select si.commitment, d.final_hash, count(*) over (partition by d.signer, d.slot) as company, d.work_spent
      from done d join relay_items si on si.network = ${network} and si.signer = d.signer and si.slot = d.slot
    ), facts as (
      select c.commitment, sum(div(c.work_spent, c.company)) as work, max(e.fields ->> 'reason') as reason,
        bool_or(c.final_hash is not null and (c.company = 1 or e.commitment is not null)) as is_failure
      from carried c left join chain_events e on e.network = ${network} and e.transaction_hash = c.final_hash
        and e.commitment = c.commitment and e.type = 'refused'
      group by c.commitment
    ), fates as (
      select f.*, i.state = 'sent'
        and not exists (
          select from relay_items o join relay_sends s on s.network = o.network and s.signer = o.signer and s.slot = o.slot
          where o.commitment = i.commitment and s.state = 'open'
            and not exists (select from done x where x.signer = s.signer and x.slot = s.slot and s.network = ${network}))
        and not exists (select from chain_events e where e.commitment = i.commitment and e.type = 'paid') as is_released
      from facts f join items i on i.commitment = f.commitment
    )
    update items i set gas_spent = i.gas_spent + f.work,
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

/**
 * The transaction on chain that paid a payment. Until the watcher has seen one, the transaction that was last broadcast for the payment.
 */
export async function findCarryingTransaction(db: Reader, paymentId: string): Promise<CarryingTransaction | undefined> {
  const [row] = await db<CarryingTransaction[]>`
    select i.network, t.hash from items i, lateral (
      select e.transaction_hash as hash, true as is_seen, null as broadcast_at, null as price from chain_events e
      where e.commitment = i.commitment and e.network = i.network and e.type = 'paid' and e.problem is null
      union all
      select v.hash, false, v.broadcast_at, v.price
      from relay_items c
      join relay_sends s on s.network = c.network and s.signer = c.signer and s.slot = c.slot and s.state = 'open'
      join relay_versions v on v.network = s.network and v.signer = s.signer and v.slot = s.slot
      where c.commitment = i.commitment and v.broadcast_at is not null
    ) t
    where i.subject = ${paymentId} and i.purpose = 'payment'
    order by t.is_seen desc, t.broadcast_at desc, t.price desc limit 1`;
  return row;
}

export async function slotsOf(db: Reader, hashes: readonly string[]): Promise<Map<string, number>> {
  const rows = await db<{ hash: string; slot: string }[]>`
    select hash, slot from relay_versions where hash = any(${hashes as string[]}::text[])`;
  return new Map(rows.map(({ hash, slot }) => [hash, Number(slot)]));
}

/** The slots of the given transactions, as far as this sender has stored them. */
export async function findSentSlots(
  db: Reader,
  { network, signer }: SenderId,
  hashes: readonly string[],
): Promise<{ hash: string; slot: number }[]> {
  const rows = await db<{ hash: string; slot: string }[]>`
    select hash, slot from relay_versions
    where hash = any(${hashes as string[]}::text[]) and network = ${network} and signer = ${signer}`;
  return rows.map(({ hash, slot }) => ({ hash, slot: Number(slot) }));
}

/** A range of slots whose transactions are unknown. Both ends are slots that are accounted for, and are not part of the gap. */
export interface SlotGap {
  readonly after: number;
  readonly before: number;
}

/**
 * The gaps in a sender's slots, up to `end`, the next slot that the chain expects. A slot is accounted for if its send is open, if its
 * mined version is known, or if it is in `found`.
 */
export async function findSlotGaps(
  db: Reader,
  { network, signer }: SenderId,
  { found, end }: { readonly found: readonly number[]; readonly end: number },
): Promise<SlotGap[]> {
  const rows = await db<{ after: string; before: string }[]>`
    select slot as after, next as before from (
      select slot, lead(slot) over (order by slot) as next from (
        select slot from relay_sends
        where network = ${network} and signer = ${signer} and (state = 'open' or final_hash is not null)
        union select unnest(${found.map(String)}::text[])::bigint
        union select ${end}::bigint
      ) as accounted
    ) as pairs where next > slot + 1 order by slot`;
  return rows.map(({ after, before }) => ({ after: Number(after), before: Number(before) }));
}

/** The number of slots that the sender has reserved and that no final transaction has used. */
export async function countOpenSends(db: Reader, { network, signer }: SenderId): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from relay_sends where network = ${network} and signer = ${signer} and state = 'open'`;
  return row?.count ?? 0;
}
