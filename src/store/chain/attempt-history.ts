import type { ItemKey } from '../../domain/item.ts';
import type { Reader, Tx } from '../plumbing/database.ts';
import { isGivenUp } from './former-sends.ts';
import { itemColumns, type StoredItem } from './items.ts';

/** An item with additional columns that are only shown to people. */
export interface AttemptRow extends StoredItem {
  readonly endedAt: Date | null;
  readonly endReason: string | null;
  readonly refusal: string | null;
  readonly retryAt: Date | null;
  readonly attempts: number;
  readonly failures: number;
  readonly workSpent: string;
  /**
   * The time before which no items of the payer are sent, because the payer's transfers failed on the chain. Null if nothing delays them.
   */
  readonly payerRetryAt: Date | null;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The number of all matching rows, including those beyond the limit. */
  readonly count: number;
}

/**
 * The newest items of these subjects, such as a payment, its payout and its refund. Items that are due, sent or paid come first, because
 * anybody can cause thousands of offered items in native coin.
 */
export async function findAttempts(db: Reader, subjects: readonly string[], limit: number): Promise<Page<AttemptRow>> {
  const rows = await db<(AttemptRow & { total: number })[]>`
    select ${itemColumns(db)}, ended_at as "endedAt", end_reason as "endReason", refusal, retry_at as "retryAt", attempts,
      failures, gas_spent as "workSpent", (
        select f.retry_at from payer_failures f
        where items.purpose = 'payment' and f.network = items.network and f.payer = items.payer) as "payerRetryAt",
      count(*) over ()::int as total
    from items where subject = any(${subjects as string[]}::text[])
    order by state in ('due', 'sent', 'paid') desc, accepted_at desc, key limit ${limit}`;
  return { rows: rows.map(({ total: _, ...row }) => row), count: rows[0]?.total ?? 0 };
}

/** A signed transaction of a relayer that contains an item. */
export interface CarryingVersion {
  /** The key of the item that the transaction contains. */
  readonly key: ItemKey;
  readonly network: string;
  readonly signer: string;
  readonly slot: number;
  /** The number of all items in the transaction. */
  readonly company: number;
  /** The number of the transaction among the versions of its slot, from 1 on. */
  readonly version: number;
  readonly hash: string;
  readonly signedAt: Date;
  readonly broadcastAt: Date | null;
  /** True if a transaction of the slot is mined at final depth. */
  readonly isFinal: boolean;
  /**
   * The hash of the mined transaction. Null if no transaction of the slot is final, or if one that the gateway did not make has used the
   * slot.
   */
  readonly finalHash: string | null;
}

/** The relayers' transactions that contain these items, the newest first. */
export async function findCarryingVersions(
  db: Reader,
  keys: readonly ItemKey[],
  limit: number,
): Promise<CarryingVersion[]> {
  const rows = await db<(Omit<CarryingVersion, 'slot'> & { slot: string })[]>`
    select c.commitment as key, s.network, s.signer, s.slot, v.hash, v.created_at as "signedAt",
      v.broadcast_at as "broadcastAt", s.state = 'final' and not (${isGivenUp(db)}) as "isFinal", s.final_hash as "finalHash",
      (select count(*)::int from relay_items o
        where o.network = s.network and o.signer = s.signer and o.slot = s.slot) as company,
      (select count(*)::int from relay_versions o
        where o.network = s.network and o.signer = s.signer and o.slot = s.slot
          and (o.created_at, o.price) <= (v.created_at, v.price)) as version
    from relay_items c
    join relay_sends s on s.network = c.network and s.signer = c.signer and s.slot = c.slot
    join relay_versions v on v.network = s.network and v.signer = s.signer and v.slot = s.slot
    where c.commitment = any(${keys as ItemKey[]}::text[])
    order by v.created_at desc, v.price desc limit ${limit}`;
  return rows.map((row) => ({ ...row, slot: Number(row.slot) }));
}

/** An event of an item that is on the chain, or that was there before a reorg removed it. */
export interface SeenEvent {
  readonly network: string;
  readonly commitment: string;
  readonly type: 'paid' | 'refused' | 'swept';
  readonly transactionHash: string;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** The time at which the watcher read the event. Null in rows of older versions. */
  readonly readAt: Date | null;
  readonly decidedAt: Date | null;
  /** The contract's reason for refusing the item, if it did. `problem` is the reason why the watcher set the event aside. */
  readonly reason: string | null;
  readonly problem: string | null;
  /** The time at which a reorg removed the event's block. Null if the event is on the chain. `forkNumber` is the last block that stayed. */
  readonly lostAt: Date | null;
  readonly forkNumber: number | null;
}

type SeenRow = Omit<SeenEvent, 'blockNumber' | 'forkNumber'> & { blockNumber: string; forkNumber: string | null };

/**
 * The events of these commitments, the highest block first. They can be on any network, because money can come to a deposit address on any
 * network.
 */
export async function findSeenEvents(db: Reader, commitments: readonly string[], limit: number): Promise<SeenEvent[]> {
  const rows = await db<SeenRow[]>`
    select network, commitment, type, transaction_hash as "transactionHash", block_number as "blockNumber",
      block_hash as "blockHash", read_at as "readAt", decided_at as "decidedAt", fields ->> 'reason' as reason, problem,
      null::timestamptz as "lostAt", null::bigint as "forkNumber"
    from chain_events where commitment = any(${commitments as string[]}::text[])
    union all
    select network, commitment, type, transaction_hash, block_number, block_hash, read_at, null, null, null, lost_at, fork_number
    from lost_events where commitment = any(${commitments as string[]}::text[])
    order by "blockNumber" desc limit ${limit}`;
  return rows.map((row) => ({
    ...row,
    blockNumber: Number(row.blockNumber),
    forkNumber: row.forkNumber === null ? null : Number(row.forkNumber),
  }));
}

/** Deletes at most `limit` removed events that left the chain before `before`, and returns their number. */
export async function pruneLostEvents(tx: Tx, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const { count } = await tx`
    delete from lost_events where ctid = any(array(
      select ctid from lost_events where lost_at < ${before} order by lost_at limit ${limit} for update skip locked))`;
  return count;
}
