import { ChainUnavailableError } from '../../../chains/chain-errors.ts';
import type { Block, Incoming } from '../../../chains/chain-reader.ts';
import type { Screening } from '../../../screening/screening.ts';
import { listSeenBlocks } from '../../../store/chain/chain-cursors.ts';
import { findPayersOf, type TransferByItem } from '../../../store/chain/chain-events.ts';
import {
  type DepositCursor,
  type DepositPlace,
  findDepositCursor,
  listPlaces,
  putDepositCursor,
} from '../../../store/chain/deposit-places.ts';
import { putMovements, type ReadMovement } from '../../../store/chain/movements.ts';
import { upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { commandOfLeader } from '../../lease.ts';
import type { View, WatchDeps, Watcher } from '../watcher.ts';

/** The time for which a deposit address is watched after it was opened. It is long, because money may come late, or twice. */
export const WATCHED_MS = 30 * 86_400_000;
const MAX_LOADED = 10_000;
/**
 * Rows that are older than this are committed: no database transaction of a request is open so long, because PostgreSQL ends each of
 * its statements and pauses after 15 s.
 */
const COMMITTED_MS = 60_000;
/** The number of blocks in one page. The transfers of a page are stored together with the cursor. */
const PAGE = 500;
/** While no address is watched, the cursor moves in steps of this many blocks. */
const IDLE_STEP = 100;

/**
 * Reads the transfers from any sender to deposit addresses: those of new blocks, and once more those of blocks that have become
 * final. All tokens and addresses are read together, so the number of calls does not depend on the number of addresses. Returns true
 * if there are more blocks to read.
 */
export async function readMovements(deps: WatchDeps, watcher: Watcher, view: View): Promise<boolean> {
  await loadPlaces(deps, watcher);
  const { network, lease, memory } = watcher;
  const cursor = await findDepositCursor(deps.db.sql, network);
  const isIdle = memory.places.byAddress.size === 0;
  if (isIdle && (cursor === undefined || view.finalNumber - cursor.finalNumber < IDLE_STEP)) return false;
  if (isIdle) {
    // No address is watched, so these blocks contain no transfers to read.
    const next = { readNumber: view.finalNumber, finalNumber: view.finalNumber };
    await commandOfLeader(deps, lease, (tx) => putDepositCursor(tx, network, next));
    return false;
  }
  const { readNumber, finalNumber } = cursor ?? (await firstCursor(deps, network));
  const next = pageAfter({ readNumber, finalNumber }, view);
  if (cursor !== undefined && next.readNumber === readNumber && next.finalNumber === finalNumber) return false;
  const found = await Promise.all([
    readRange(watcher, readNumber + 1, next.readNumber),
    readRange(watcher, finalNumber + 1, Math.min(next.finalNumber, readNumber)),
  ]);
  const { chain } = watcher;
  const movements = await storable(deps, { chain, network, places: memory.places.byAddress }, found.flat());
  await commandOfLeader(deps, lease, async (tx, at) => {
    await storeMovements(tx, { network, movements }, at);
    await putDepositCursor(tx, network, next);
  });
  if (movements.length > 0) deps.world.crashPoint?.('deposit.stored');
  return next.readNumber < view.readNumber || next.finalNumber < view.finalNumber;
}

/** The cursor after the next page: `readNumber` follows the new blocks, and `finalNumber` the second reading of final blocks. */
function pageAfter({ readNumber, finalNumber }: DepositCursor, view: View): DepositCursor {
  return {
    readNumber: Math.max(readNumber, Math.min(view.readNumber, readNumber + PAGE)),
    finalNumber: Math.max(finalNumber, Math.min(view.finalNumber, finalNumber + PAGE)),
  };
}

/**
 * The cursor before the first reading. All known blocks are read, because the first address may have been created before the chain
 * was read for the first time.
 */
async function firstCursor(deps: WatchDeps, network: string): Promise<DepositCursor> {
  const lowest = (await listSeenBlocks(deps.db.sql, network)).at(-1)?.number ?? 0;
  return { readNumber: lowest - 1, finalNumber: lowest - 1 };
}

/**
 * Loads new deposit addresses into memory, and drops those that are no longer watched. A row may be committed after a row with a
 * higher number, so the rows of the last minute are read again in every round.
 */
async function loadPlaces(deps: WatchDeps, { network, memory: { places } }: Watcher): Promise<void> {
  const nowMs = deps.world.clock.nowMs();
  const since = new Date(nowMs - WATCHED_MS);
  for (const [address, { openedAt }] of places.byAddress) {
    // The map is sorted by row number, so the oldest address comes first.
    if (openedAt >= since) break;
    places.byAddress.delete(address);
  }
  for (let after = places.settledNumber; ; ) {
    const rows = await listPlaces(deps.db.sql, { network, after, since, limit: MAX_LOADED });
    for (const row of rows) {
      places.byAddress.set(row.address, row);
      after = row.number;
      if (row.openedAt.getTime() < nowMs - COMMITTED_MS) places.settledNumber = row.number;
    }
    if (rows.length < MAX_LOADED) return;
  }
}

async function readRange({ chain, memory }: Watcher, from: number, to: number): Promise<readonly Incoming[]> {
  if (from > to) return [];
  return chain.reader.incoming(memory.places.byAddress, from, to);
}

/** The found transfers as rows to store, with the times of their blocks, and whether their senders are on the screening list. */
export async function storable(
  deps: WatchDeps,
  {
    chain,
    network,
    places,
  }: Pick<Watcher, 'chain' | 'network'> & { readonly places: ReadonlyMap<string, DepositPlace> },
  found: readonly Incoming[],
): Promise<ReadMovement[]> {
  if (found.length === 0) return [];
  const numbers = [...new Set(found.map(({ block }) => block.number))];
  const blocks = new Map(
    await Promise.all(numbers.map(async (number) => [number, await chain.reader.block(number)] as const)),
  );
  const payers = await findPayersOf(deps.db.sql, network, [...new Set(found.map((each) => each.transactionHash))]);
  return found.flatMap((transfer): ReadMovement[] => {
    const header = blocks.get(transfer.block.number);
    if (header?.hash !== transfer.block.hash) {
      throw new ChainUnavailableError(network, 'its blocks and transfers do not belong together');
    }
    const place = places.get(transfer.to);
    if (place === undefined) return [];
    return [movementOf(deps, transfer, { network, place, header, payers })];
  });
}

/** Stores movements, and raises an alert for each new one from a sender on the screening list. Returns the new ones. */
export async function storeMovements(
  tx: Tx,
  { network, movements }: { readonly network: string; readonly movements: readonly ReadMovement[] },
  at: Date,
): Promise<readonly Pick<ReadMovement, 'transactionHash' | 'logIndex' | 'commitment'>[]> {
  const added = await putMovements(tx, network, movements);
  const isNew = new Set(added.map(keyOf));
  for (const movement of movements.filter((each) => each.isScreened && isNew.has(keyOf(each)))) {
    const message = `Money came to a deposit address from ${movement.sender}, which is on the screening list. It does not count, and is not swept.`;
    await upsertAlert(tx, { name: 'screened_payer', subject: movement.commitment, message, lastSeen: at });
  }
  return added;
}

interface MovementContext {
  readonly network: string;
  readonly place: DepositPlace;
  readonly header: Block;
  readonly payers: readonly TransferByItem[];
}

export function movementOf(
  { screening }: { readonly screening: Screening },
  transfer: Incoming,
  { network, place, header, payers }: MovementContext,
): ReadMovement {
  const { block, transactionHash, logIndex, asset, amount } = transfer;
  const sender = senderOf(transfer, payers);
  return {
    transactionHash,
    logIndex,
    blockNumber: block.number,
    blockHash: block.hash,
    at: new Date(header.timestampS * 1000),
    commitment: place.commitment,
    paymentId: place.paymentId,
    asset,
    sender,
    amount: amount.toString(),
    isScreened: screening.decide([`${network}:${sender}`]).hits.length > 0,
  };
}

/** The sender of a transfer. If the Collector made the transfer, the sender is the payer of its item. */
function senderOf({ transactionHash, asset, from, to, logIndex }: Incoming, payers: readonly TransferByItem[]): string {
  const item = payers.find(
    (each) =>
      each.transactionHash === transactionHash &&
      each.recipient === to &&
      each.asset === asset &&
      each.logIndex >= logIndex &&
      each.payer !== from,
  );
  return item?.payer ?? from;
}

function keyOf({ transactionHash, logIndex }: Pick<ReadMovement, 'transactionHash' | 'logIndex'>): string {
  return `${transactionHash} ${logIndex}`;
}
