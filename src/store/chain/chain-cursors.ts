import type { Reader, Tx } from '../plumbing/database.ts';

/** The last block of a network that its watcher has read. */
export interface ChainCursor {
  readonly network: string;
  readonly blockNumber: number;
  readonly blockHash: string;
  /** The last block at final depth. */
  readonly finalNumber: number;
  readonly finalAt: Date;
}

/** A block near the head, as the watcher has read it. A reorg shows itself by a different parent hash. */
export interface SeenBlock {
  readonly number: number;
  readonly hash: string;
  readonly parentHash: string;
  readonly at: Date;
}

type CursorRow = Omit<ChainCursor, 'blockNumber' | 'finalNumber'> & { blockNumber: string; finalNumber: string };

export async function findCursors(db: Reader): Promise<ChainCursor[]> {
  const rows = await db<CursorRow[]>`
    select network, block_number as "blockNumber", block_hash as "blockHash", final_number as "finalNumber",
      final_timestamp as "finalAt"
    from chain_cursors`;
  return rows.map((row) => ({
    ...row,
    blockNumber: Number(row.blockNumber),
    finalNumber: Number(row.finalNumber),
  }));
}

/**
 * Stores the first cursor of a network, and begins its books in the same database transaction. Two transactions would leave a gap: if a
 * backup from between them were restored, all money that arrived later would count as part of the opening balance.
 */
export async function beginCursor(
  tx: Tx,
  cursor: ChainCursor,
  { booksFrom, fencing, at }: { booksFrom: number; fencing: number; at: Date },
) {
  const { network, blockNumber, blockHash, finalNumber, finalAt } = cursor;
  await tx`
    insert into chain_cursors
      (network, block_number, block_hash, final_number, final_timestamp, fencing, updated_at)
    values (${network}, ${blockNumber}, ${blockHash}, ${finalNumber}, ${finalAt}, ${fencing}, ${at})
    on conflict (network) do nothing`;
  await tx`
    insert into stray_cursors (network, first_block, block_number) values (${network}, ${booksFrom}, ${booksFrom})
    on conflict (network) do nothing`;
}

/** Moves the watcher's cursor of a network, forward or back. */
export async function moveCursor(tx: Tx, cursor: ChainCursor, { fencing, at }: { fencing: number; at: Date }) {
  const { network, blockNumber, blockHash, finalNumber, finalAt } = cursor;
  await tx`
    update chain_cursors
    set block_number = ${blockNumber}, block_hash = ${blockHash}, final_number = ${finalNumber},
      final_timestamp = ${finalAt}, fencing = ${fencing}, updated_at = ${at}
    where network = ${network}`;
}

/** The stored blocks of a network, the highest first. */
export async function listSeenBlocks(db: Reader, network: string): Promise<SeenBlock[]> {
  const rows = await db<(Omit<SeenBlock, 'number'> & { number: string })[]>`
    select number, hash, parent_hash as "parentHash", at from chain_blocks
    where network = ${network} order by number desc`;
  return rows.map((row) => ({ ...row, number: Number(row.number) }));
}

/** Stores blocks, and deletes blocks before `keepFrom`, which no reorg can remove any more. */
export async function putBlocks(tx: Tx, network: string, blocks: readonly SeenBlock[], keepFrom: number) {
  await tx`
    insert into chain_blocks (network, number, hash, parent_hash, at)
    select ${network}, b.number, b.hash, b."parentHash", b.at
    from jsonb_to_recordset(${tx.json(blocks as never)})
      as b(number bigint, hash text, "parentHash" text, at timestamptz)
    on conflict (network, number) do update
    set hash = excluded.hash, parent_hash = excluded.parent_hash, at = excluded.at`;
  await tx`delete from chain_blocks where network = ${network} and number < ${keepFrom}`;
}

export async function deleteBlocksAbove(tx: Tx, network: string, number: number): Promise<void> {
  await tx`delete from chain_blocks where network = ${network} and number > ${number}`;
}
