import { type Block, type Chain, ChainUnavailableError } from '../../chains/chain.ts';
import {
  type ChainCursor,
  deleteBlocksAbove,
  listSeenBlocks,
  putCursor,
  type SeenBlock,
} from '../../store/chain/chain-cursors.ts';
import { deleteEventsAbove } from '../../store/chain/chain-events.ts';
import { upsertAlert } from '../../store/plumbing/alerts.ts';
import { reopenItems } from '../books/record.ts';
import { commandOfLeader } from '../lease.ts';
import { notePayments } from '../paying/move-payment.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

const COMPARED_AT_ONCE = 16;

/**
 * Forgets what was read of blocks that are not in the chain any more, down to the last one that is. What had not reached
 * final depth had no consequences yet. What had, stands: the payment stays succeeded, its log and an alert tell of it, and the
 * same authorization is due again, so that the money arrives after all.
 */
export async function rollBack(deps: WatchDeps, watcher: Watcher, cursor: ChainCursor): Promise<ChainCursor> {
  const { chain, network, lease } = watcher;
  const seen = (await listSeenBlocks(deps.db.sql, network)).filter(({ number }) => number <= cursor.blockNumber);
  const fork = (await lastShared(chain, seen)) ?? (await belowAll(watcher, seen, cursor));
  const isDeep = fork.number < cursor.finalNumber;
  const next: ChainCursor = {
    network,
    blockNumber: fork.number,
    blockHash: fork.hash,
    finalNumber: Math.min(cursor.finalNumber, fork.number),
    finalAt: isDeep ? fork.at : cursor.finalAt,
  };
  const subjects = await commandOfLeader(deps, lease, async (tx, at) => {
    await deleteBlocksAbove(tx, network, fork.number);
    const unpaid = await deleteEventsAbove(tx, network, fork.number);
    const revived = await reopenItems(tx, unpaid, at);
    for (const { subject } of revived) {
      const message = 'A reorganisation deeper than final depth removed its transaction; it is being sent again.';
      await upsertAlert(tx, { name: 'deep_reorg', subject, message, lastSeen: at });
    }
    const evidence = { network, fork: fork.number, forkHash: fork.hash };
    const payments = revived.flatMap(({ subject, purpose }) => (purpose === 'payment' ? [subject] : []));
    await notePayments(tx, payments, { type: 'payment.reorged', actor: 'watcher', evidence }, at);
    await putCursor(tx, next, { fencing: lease.fencing, at });
    return revived.map(({ subject }) => subject);
  });
  const depth = cursor.blockNumber - fork.number;
  deps.meters.reorg(network, depth);
  deps.log[isDeep ? 'error' : 'info']({ network, fork: fork.number, depth, payments: subjects }, 'chain reorganised');
  return next;
}

/** The highest remembered block that is still in the chain. */
async function lastShared(chain: Chain, seen: readonly SeenBlock[]): Promise<SeenBlock | undefined> {
  for (let start = 0; start < seen.length; start += COMPARED_AT_ONCE) {
    const some = seen.slice(start, start + COMPARED_AT_ONCE);
    const current = await Promise.all(some.map(({ number }) => chain.block(number)));
    const shared = some.find(({ hash }, index) => current[index]?.hash === hash);
    if (shared !== undefined) return shared;
  }
  return undefined;
}

/** Nothing that is remembered is left: everything since before is read again. */
async function belowAll({ chain, network }: Watcher, seen: readonly SeenBlock[], cursor: ChainCursor) {
  const lowest = seen.at(-1)?.number ?? cursor.blockNumber;
  const block = await chain.block(Math.max(0, lowest - 1));
  if (block === undefined) throw new ChainUnavailableError(network, 'it is shorter than what was read of it');
  return seenBlock(block);
}

export function seenBlock({ number, hash, parentHash, timestampS }: Block): SeenBlock {
  return { number, hash, parentHash, at: new Date(timestampS * 1000) };
}
