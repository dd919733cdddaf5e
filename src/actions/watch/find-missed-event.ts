import { type Chain, ChainUnavailableError } from '../../chains/chain.ts';
import type { ChainCursor } from '../../store/chain/chain-cursors.ts';
import { putEvents } from '../../store/chain/chain-events.ts';
import type { StoredItem } from '../../store/chain/items.ts';
import { command } from '../command.ts';
import { readEvents, storedEvent } from './read-events.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

const RANGE = 500;
/** A payer may have used the signature before we had it, and this node's clock may be ahead of the chain's. */
const BEFORE_MS = 24 * 60 * 60_000;

/**
 * An authorization is used up and no event tells of it. Before that is called somebody else's doing, everything since the
 * item was accepted is read once more: an endpoint that lagged behind may have kept an event from us, and a payment that
 * has arrived must never be called failed.
 */
export async function findMissedEvent(
  deps: WatchDeps,
  watcher: Watcher,
  { chain, cursor, stored }: { chain: Chain; cursor: ChainCursor; stored: StoredItem },
): Promise<boolean> {
  const { network, commitment, acceptedAt } = stored;
  const earliestMs = Math.min(acceptedAt.getTime(), cursor.finalAt.getTime()) - BEFORE_MS;
  const start = await firstBlockAfter(chain, earliestMs, cursor.blockNumber);
  for (let from = start; from <= cursor.blockNumber; from += RANGE) {
    const to = Math.min(from + RANGE - 1, cursor.blockNumber);
    const events = await readEvents(deps, { ...watcher, chain, network }, from, to);
    const missed = events.filter((event) => event.commitment === commitment && event.type === 'paid');
    if (missed.length === 0) continue;
    await command(deps, (tx) => putEvents(tx, network, missed.map(storedEvent)));
    return true;
  }
  return false;
}

/** By halving: the time between blocks is no constant. */
async function firstBlockAfter(chain: Chain, atMs: number, highest: number): Promise<number> {
  let low = 0;
  let high = highest;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const block = await chain.block(middle);
    // It was read before: an endpoint that does not have it lags behind, and must not make us look too late.
    if (block === undefined)
      throw new ChainUnavailableError(chain.network.chainId, 'it is shorter than what was read of it');
    if (block.timestampS * 1000 >= atMs) high = middle;
    else low = middle + 1;
  }
  return low;
}
