import { ChainUnavailableError } from '../../chains/chain-errors.ts';
import type { Block, ChainEvent, ChainReader } from '../../chains/chain-reader.ts';
import { hasPassed } from '../../domain/has-passed.ts';
import { LONE_DEPTH_FACTOR } from '../../domain/quorum.ts';
import {
  beginCursor,
  type ChainCursor,
  findCursors,
  listSeenBlocks,
  moveCursor,
  putBlocks,
  type SeenBlock,
} from '../../store/chain/chain-cursors.ts';
import { putEvents } from '../../store/chain/chain-events.ts';
import { askBlock, askHeights } from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { readEvents, storedEvent } from './read-events.ts';
import { rollBack, seenBlock } from './roll-back.ts';
import type { View, WatchDeps, Watcher } from './watcher.ts';

/** The maximum number of blocks per round. After days offline the next rounds read the rest. */
const MAX_RANGE = 500;
/** The first reading of a chain begins this many blocks below the head. */
const START_BELOW_HEAD = 32;
/** The number of final blocks whose events are read once more, because a lagging replica may have omitted events the first time. */
const REREAD_BLOCKS = 4;
const REREAD_EVERY_MS = 2_000;
/** The pause before an endpoint that is behind is asked for its height again. */
const ASK_EVERY_MS = 250;
const MIN_HISTORY = 64;

/** Reads the next range of blocks and stores it with the cursor. After a reorg it rolls back to the last common block. */
export async function followChain(deps: WatchDeps, watcher: Watcher): Promise<View> {
  const { chain, network, depth, memory } = watcher;
  const cursors = await findCursors(deps.db.sql);
  const cursor = cursors.find((each) => each.network === network) ?? (await begin(deps, watcher));
  const [head, current] = await Promise.all([chain.reader.head(), chain.reader.block(cursor.blockNumber)]);
  if (current?.hash !== cursor.blockHash) return followReorg(deps, watcher, cursor, { head, current });

  const to = Math.max(cursor.blockNumber, Math.min(head.number, cursor.blockNumber + MAX_RANGE));
  const nowMs = deps.world.clock.nowMs();
  const hasMoved = to > cursor.blockNumber;
  const isReading = hasMoved || hasPassed(memory.readAtMs, nowMs, REREAD_EVERY_MS);
  // A second endpoint may be a moment behind, so heights are asked for again until it has caught up.
  const mayBeFinal = cursor.finalNumber < Math.min(to, head.number - depth + 1);
  const isUnknown = mayBeFinal || memory.heights.agreed === undefined;
  const isAsking = hasMoved || (isUnknown && hasPassed(memory.askedAtMs, nowMs, ASK_EVERY_MS));
  if (!isReading && !isAsking) return viewOf(watcher, cursor, { head, hasNews: false });

  const from = Math.max(0, Math.min(cursor.blockNumber, cursor.finalNumber) + 1 - REREAD_BLOCKS);
  const [blocks, events] = await Promise.all([
    readHeaders(chain.reader, cursor, { to, keepFrom: head.number - historyOf(depth) }),
    isReading ? readEvents(deps, watcher, from, to) : [],
    isAsking ? refreshHeights(deps, watcher, head) : undefined,
  ]);
  const seen = [...(await listSeenBlocks(deps.db.sql, network)), ...blocks.map(seenBlock)];
  const last = blocks.at(-1) ?? current;
  const final = await finalBlock(watcher, cursor, { to, seen });
  if (final === undefined || last.number !== to || !fits(cursor, blocks, seen, events)) {
    // The chain changed while it was read, or two endpoints are on different branches. This reading is discarded.
    throw new ChainUnavailableError(network, 'its blocks and events do not belong together');
  }
  const next: ChainCursor = { network, blockNumber: to, blockHash: last.hash, ...final };
  if (isReading) memory.readAtMs = nowMs;
  const hasProgress = hasMoved || final.finalNumber > cursor.finalNumber;
  if (!hasProgress && events.length === 0) return viewOf(watcher, cursor, { head, hasNews: false });
  deps.world.crashPoint?.('watch.read');
  const added = await commandOfLeader(deps, watcher.lease, async (tx, at) => {
    if (hasMoved) await putBlocks(tx, network, blocks.map(seenBlock), to - historyOf(depth));
    const count = events.length === 0 ? 0 : await putEvents(tx, network, events.map(storedEvent), at);
    if (hasProgress) await moveCursor(tx, next, { fencing: watcher.lease.fencing, at });
    return count;
  });
  if (added > 0) deps.world.crashPoint?.('watch.stored');
  deps.meters.blocks(network, { head: head.number, read: to, final: final.finalNumber });
  return viewOf(watcher, next, { head, hasNews: hasProgress || added > 0 });
}

/** Asks the endpoints for the height of the chain. A height confirmed by two endpoints stays valid until a rollback. */
async function refreshHeights(deps: WatchDeps, { chain, memory }: Watcher, head: Block): Promise<void> {
  memory.askedAtMs = deps.world.clock.nowMs();
  // A single endpoint has just reported its head, so it is not asked again.
  const isOnly = chain.reader.witnesses().length === 1;
  const { agreed, alone } = await askHeights(chain.reader, isOnly ? async () => head : undefined);
  const known = Math.max(agreed ?? -1, memory.heights.agreed ?? -1);
  memory.heights = { agreed: known < 0 ? undefined : known, alone };
}

/** The last final block: never below the cursor's, and never above the last block read. */
async function finalBlock(
  { chain, depth, memory }: Watcher,
  cursor: ChainCursor,
  { to, seen }: { to: number; seen: readonly SeenBlock[] },
): Promise<Pick<ChainCursor, 'finalNumber' | 'finalAt'> | undefined> {
  const { agreed = 0, alone = 0 } = memory.heights;
  const deep = Math.max(agreed - depth + 1, alone - LONE_DEPTH_FACTOR * depth + 1);
  const finalNumber = Math.max(cursor.finalNumber, Math.min(to, deep));
  if (finalNumber === cursor.finalNumber) return { finalNumber, finalAt: cursor.finalAt };
  const known =
    seen.find(({ number }) => number === finalNumber) ?? (await chain.reader.block(finalNumber).then(seenOrNone));
  return known && { finalNumber, finalAt: known.at };
}

const seenOrNone = (block: Block | undefined) => block && seenBlock(block);

/**
 * Begins the cursor of a chain that was never read. The chain has no payments of this gateway yet, but a few older blocks are cheap
 * to read. Two endpoints must agree on the first block, because the cursor never goes back below it.
 */
async function begin(deps: WatchDeps, { chain, network, depth, lease }: Watcher): Promise<ChainCursor> {
  const { agreed, alone } = await askHeights(chain.reader);
  const head = agreed ?? alone;
  if (head === undefined) throw new ChainUnavailableError(network, 'too few endpoints say how long it is');
  const wanted = deps.settings.startAt?.(network) ?? head - START_BELOW_HEAD;
  const final = Math.max(0, head - depth + 1);
  // The block at which reading begins counts as final.
  const { block: first } = await askBlock(chain.reader, Math.max(0, Math.min(wanted, final)));
  const at = new Date(first.timestampS * 1000);
  const cursor = { network, blockNumber: first.number, blockHash: first.hash, finalNumber: first.number, finalAt: at };
  await commandOfLeader(deps, lease, async (tx, now) => {
    await putBlocks(tx, network, [seenBlock(first)], 0);
    // Money that came before the first reading is an opening balance in the books, even if its block is read now.
    await beginCursor(tx, cursor, { booksFrom: final, fencing: lease.fencing, at: now });
  });
  return cursor;
}

async function followReorg(
  deps: WatchDeps,
  watcher: Watcher,
  cursor: ChainCursor,
  { head, current }: { head: Block; current: Block | undefined },
): Promise<View> {
  if (current === undefined) {
    // The chain is shorter than the cursor. If its head is a block that the watcher has read, the cause is a lagging replica, and not a
    // reorg.
    const seen = await listSeenBlocks(deps.db.sql, watcher.network);
    const known = seen.find(({ number }) => number === head.number);
    if (known === undefined || known.hash === head.hash) return viewOf(watcher, cursor, { head, hasNews: false });
  }
  const next = await rollBack(deps, watcher, cursor);
  // Final blocks have changed, so those that were read for single deposit addresses are read again.
  if (next.finalNumber < cursor.finalNumber) watcher.memory.earlier.read.clear();
  return { ...viewOf(watcher, next, { head, hasNews: true }), isBehind: true };
}

/** The headers after the cursor: all of them near the head, where a reorg is possible, but only the last one far below it. */
async function readHeaders(
  reader: ChainReader,
  { blockNumber }: ChainCursor,
  { to, keepFrom }: { to: number; keepFrom: number },
): Promise<Block[]> {
  const first = Math.max(blockNumber + 1, Math.min(to, keepFrom));
  const numbers = Array.from({ length: Math.max(0, to - first + 1) }, (_, index) => first + index);
  const blocks = await Promise.all(numbers.map((number) => reader.block(number)));
  return blocks.filter((block) => block !== undefined);
}

/** True if the blocks form a chain from the cursor on, and contain the events. */
function fits(
  cursor: ChainCursor,
  blocks: readonly Block[],
  seen: readonly SeenBlock[],
  events: readonly ChainEvent[],
): boolean {
  let previous = { number: cursor.blockNumber, hash: cursor.blockHash };
  for (const block of blocks) {
    if (block.number === previous.number + 1 && block.parentHash !== previous.hash) return false;
    previous = block;
  }
  const hashes = new Map(seen.map(({ number, hash }) => [number, hash]));
  return events.every(({ block }) => (hashes.get(block.number) ?? block.hash) === block.hash);
}

function viewOf({ memory }: Watcher, cursor: ChainCursor, { head, hasNews }: { head: Block; hasNews: boolean }): View {
  return {
    readNumber: cursor.blockNumber,
    finalNumber: cursor.finalNumber,
    finalAtMs: cursor.finalAt.getTime(),
    heights: memory.heights,
    isBehind: head.number > cursor.blockNumber,
    hasNews,
  };
}

/** The number of stored block hashes: far more than the depth of any expected reorg. */
function historyOf(depth: number): number {
  return Math.max(MIN_HISTORY, depth * 4);
}
