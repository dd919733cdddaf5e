import type { Chain } from '../../chains/chain.ts';
import type { ChainCursor } from '../../store/chain/chain-cursors.ts';
import { addEvents } from '../../store/chain/chain-events.ts';
import type { StoredItem } from '../../store/chain/items.ts';
import type { Lease } from '../../store/plumbing/leases.ts';
import type { CommandDeps } from '../command.ts';
import { hearBlock, hearEvents } from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { storedEvent } from './read-events.ts';

const RANGE = 500;
/**
 * A margin before the item was accepted: a payer may have used the signature before it reached us, and this node's
 * clock may be ahead of the chain's. Nobody knows a deposit address before it was handed out.
 */
const BEFORE_MS = { paid: 24 * 60 * 60_000, swept: 10 * 60_000 };

interface MissedEventInput {
  readonly chain: Chain;
  readonly cursor: ChainCursor;
  readonly stored: StoredItem;
  readonly lease: Lease;
  /** Sweeps are events of a deposit address. */
  readonly type?: 'paid' | 'swept';
}

/**
 * Searches for the event of an authorization that is used without a stored event. Before the item is taken for
 * cancelled or used elsewhere, all blocks since it was accepted are read once more, from two endpoints: an endpoint
 * that lags or lies may have hidden the event, and a payment that has arrived must never be reported as failed.
 */
export async function findMissedEvent(
  deps: CommandDeps,
  { chain, cursor, stored, lease, type = 'paid' }: MissedEventInput,
): Promise<{ readonly isFound: boolean; readonly isNew: boolean; readonly isAlone: boolean }> {
  const { network, commitment, acceptedAt } = stored;
  const earliestMs = Math.min(acceptedAt.getTime(), cursor.finalAt.getTime()) - BEFORE_MS[type];
  const start = await firstBlockAfter(chain, earliestMs, cursor.blockNumber);
  let isAlone = start.isAlone;
  for (let from = start.number; from <= cursor.blockNumber; from += RANGE) {
    const heard = await hearEvents(chain, from, Math.min(from + RANGE - 1, cursor.blockNumber));
    isAlone ||= heard.isAlone;
    const missed = heard.events.filter((event) => event.commitment === commitment && event.type === type);
    if (missed.length === 0) continue;
    const added = await commandOfLeader(deps, lease, (tx, at) => addEvents(tx, network, missed.map(storedEvent), at));
    return { isFound: true, isNew: added > 0, isAlone };
  }
  return { isFound: false, isNew: false, isAlone };
}

/** By bisection: the block time is not constant. */
async function firstBlockAfter(chain: Chain, atMs: number, highest: number) {
  let low = 0;
  let high = highest;
  let isAlone = false;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const heard = await hearBlock(chain, middle);
    isAlone ||= heard.isAlone;
    if (heard.block.timestampS * 1000 >= atMs) high = middle;
    else low = middle + 1;
  }
  return { number: low, isAlone };
}
