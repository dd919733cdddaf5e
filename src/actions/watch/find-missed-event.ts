import type { Chain } from '../../chains/chain.ts';
import type { Block, ChainReader } from '../../chains/chain-reader.ts';
import type { ChainCursor } from '../../store/chain/chain-cursors.ts';
import { addEvents } from '../../store/chain/chain-events.ts';
import type { StoredItem } from '../../store/chain/items.ts';
import type { Lease } from '../../store/plumbing/leases.ts';
import type { CommandDeps } from '../command.ts';
import { askBlock, askEvents } from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { storedEvent } from './read-events.ts';
import type { RoundReads, Search } from './watcher.ts';

/** The number of blocks in one range. A search reads range by range. */
export const RANGE = 500;
/**
 * A search begins this long before its item was accepted: a payer may have used the signature before it reached us, and this node's
 * clock may be ahead of the chain's. The margin is shorter for sweeps, because nobody knows a deposit address before we create it.
 */
const BEFORE_MS = { paid: 24 * 60 * 60_000, swept: 10 * 60_000 };

/**
 * The maximum number of ranges that one search reads in a round. The next round continues the search, so an old item does not delay
 * the watcher.
 */
export const MOST_RANGES = 40;
/** The maximum number of remembered searches. */
const MOST_SEARCHES = 10_000;

interface MissedEventInput {
  readonly chain: Chain;
  readonly cursor: ChainCursor;
  /** The last final block, as enough endpoints report it. */
  readonly block: Block;
  readonly stored: StoredItem;
  readonly lease: Lease;
  /** The progress of searches, by type and commitment. Blocks that were read in one round are not read again in the next. */
  readonly searches: Map<string, Search>;
  readonly reads: RoundReads;
  /** The type of the missing event: `swept` for a deposit address, `paid` for every other item. */
  readonly type?: 'paid' | 'swept';
}

interface Found {
  readonly isFound: boolean;
  readonly isNew: boolean;
  readonly isAlone: boolean;
  /** False if there are more blocks than a round reads. Then the result is still unknown. */
  readonly isDone: boolean;
}

/**
 * Searches for the event of an authorization that is used without a stored event. Before the item counts as cancelled or used
 * elsewhere, all blocks since its acceptance are read once more, from two endpoints: an endpoint that lags or lies may have hidden
 * the event, and a payment that has arrived must never be reported as failed.
 */
export async function findMissedEvent(
  deps: CommandDeps,
  { chain, cursor, block, stored, lease, searches, reads, type = 'paid' }: MissedEventInput,
): Promise<Found> {
  const { network, commitment, acceptedAt } = stored;
  const key = `${type} ${commitment}`;
  const known = searches.get(key);
  const earliestMs = Math.min(acceptedAt.getTime(), block.timestampS * 1000) - BEFORE_MS[type];
  // After a reorg below the final block the search begins anew.
  const start =
    known !== undefined && known.next <= cursor.finalNumber + 1
      ? known
      : await firstRangeAfter(chain.reader, reads, earliestMs, cursor.blockNumber);
  const last = Math.min(cursor.blockNumber, start.next + MOST_RANGES * RANGE - 1);
  let isAlone = start.isAlone;
  for (let from = start.next; from <= last; from += RANGE) {
    const to = Math.min(from + RANGE - 1, last);
    const reported = await shared(reads.events, `${network} ${from} ${to}`, () => askEvents(chain.reader, from, to));
    isAlone ||= reported.isAlone;
    const missed = reported.events.filter((event) => event.commitment === commitment && event.type === type);
    if (missed.length === 0) continue;
    searches.delete(key);
    const added = await commandOfLeader(deps, lease, (tx, at) => addEvents(tx, network, missed.map(storedEvent), at));
    return { isFound: true, isNew: added > 0, isAlone, isDone: true };
  }
  const isDone = last >= cursor.blockNumber;
  // A single endpoint may have hidden the event. The blocks are read again, in case a second endpoint answers.
  if (isDone && isAlone) searches.delete(key);
  else remember(searches, key, { next: Math.min(last, cursor.finalNumber) + 1, isAlone });
  return { isFound: false, isNew: false, isAlone, isDone };
}

function remember(searches: Map<string, Search>, key: string, search: Search): void {
  if (searches.size >= MOST_SEARCHES) searches.clear();
  searches.set(key, search);
}

/**
 * The range of the first block at or after `atMs`. Uses bisection, because the block time is not constant. All searches use the same
 * bounds of ranges, so they can share the ranges that were read.
 */
async function firstRangeAfter(
  reader: ChainReader,
  { blocks }: RoundReads,
  atMs: number,
  highest: number,
): Promise<Search> {
  const { chainId } = reader.network;
  let low = 0;
  let high = highest;
  let isAlone = false;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const reported = await shared(blocks, `${chainId} ${middle}`, () => askBlock(reader, middle));
    isAlone ||= reported.isAlone;
    if (reported.block.timestampS * 1000 >= atMs) high = middle;
    else low = middle + 1;
  }
  return { next: low - (low % RANGE), isAlone };
}

function shared<T>(known: Map<string, Promise<T>>, key: string, ask: () => Promise<T>): Promise<T> {
  const asked = known.get(key) ?? ask();
  known.set(key, asked);
  return asked;
}
