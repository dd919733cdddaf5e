import { type Block, type Chain, ChainUnavailableError } from '../../chains/chain.ts';
import {
  type ChainCursor,
  deleteBlocksAbove,
  listSeenBlocks,
  putCursor,
  type SeenBlock,
} from '../../store/chain/chain-cursors.ts';
import { deleteEventsAbove } from '../../store/chain/chain-events.ts';
import { deleteDepositTransfersAbove } from '../../store/chain/deposit-transfers.ts';
import { upsertAlert } from '../../store/plumbing/alerts.ts';
import { reopenItems } from '../books/record.ts';
import { hear, sayings } from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { notePayments } from '../paying/move-payment.ts';
import { reverseSweeps } from './deposits/settle-swept.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

const COMPARED_AT_ONCE = 16;

/**
 * Deletes the stored blocks and events above the last block that is still in the chain. Events below final depth had no
 * effect yet. Final events keep their effect: the payment stays succeeded, its log and an alert record the reorg, and
 * the same authorization is due again, so that the money arrives after all.
 */
export async function rollBack(deps: WatchDeps, watcher: Watcher, cursor: ChainCursor): Promise<ChainCursor> {
  const { chain, network, lease } = watcher;
  const seen = (await listSeenBlocks(deps.db.sql, network)).filter(({ number }) => number <= cursor.blockNumber);
  const fork = (await lastShared(chain, seen)) ?? (await belowAll(watcher, seen, cursor));
  const isDeep = fork.number < cursor.finalNumber;
  if (isDeep) await refuseFalseReorg(watcher, cursor, seen);
  watcher.memory.heights = { agreed: undefined, alone: undefined };
  const next: ChainCursor = {
    network,
    blockNumber: fork.number,
    blockHash: fork.hash,
    finalNumber: Math.min(cursor.finalNumber, fork.number),
    finalAt: isDeep ? fork.at : cursor.finalAt,
  };
  const subjects = await commandOfLeader(deps, lease, async (tx, at) => {
    await deleteBlocksAbove(tx, network, fork.number);
    await reverseSweeps(tx, network, fork.number, at);
    await deleteDepositTransfersAbove(tx, network, fork.number);
    const unpaid = await deleteEventsAbove(tx, network, fork.number, at);
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

/**
 * Final items are reopened only if enough endpoints show another block at that height: a lying endpoint must not raise
 * false alarms, nor cause authorizations to be sent again.
 */
async function refuseFalseReorg(
  { chain, network, memory }: Watcher,
  { finalNumber }: ChainCursor,
  seen: readonly SeenBlock[],
): Promise<void> {
  const known = seen.find(({ number }) => number === finalNumber);
  if (known === undefined) return;
  const isGone = (block: Block | undefined) => (block === undefined ? undefined : block.hash !== known.hash);
  const { finding, statements } = await hear(chain, async (witness) => isGone(await witness.block(finalNumber)));
  const isProved = (finding.is === 'agreed' || finding.is === 'alone') && finding.value;
  if (isProved) {
    memory.disputes.delete('reorganisation');
    return;
  }
  const said = sayings(statements, (gone) => (gone ? 'it is gone' : 'it is there'));
  if (finding.is === 'disputed')
    memory.disputes.set('reorganisation', `Whether block ${finalNumber} is gone: ${said}.`);
  throw new ChainUnavailableError(network, `one endpoint shows another branch below block ${finalNumber}: ${said}`);
}

/** The highest stored block that is still in the chain. */
async function lastShared(chain: Chain, seen: readonly SeenBlock[]): Promise<SeenBlock | undefined> {
  for (let start = 0; start < seen.length; start += COMPARED_AT_ONCE) {
    const some = seen.slice(start, start + COMPARED_AT_ONCE);
    const current = await Promise.all(some.map(({ number }) => chain.block(number)));
    const shared = some.find(({ hash }, index) => current[index]?.hash === hash);
    if (shared !== undefined) return shared;
  }
  return undefined;
}

/** No stored block is left in the chain: reading starts again below the oldest of them. */
async function belowAll({ chain, network }: Watcher, seen: readonly SeenBlock[], cursor: ChainCursor) {
  const lowest = seen.at(-1)?.number ?? cursor.blockNumber;
  const block = await chain.block(Math.max(0, lowest - 1));
  if (block === undefined) throw new ChainUnavailableError(network, 'it is shorter than the blocks already read');
  return seenBlock(block);
}

export function seenBlock({ number, hash, parentHash, timestampS }: Block): SeenBlock {
  return { number, hash, parentHash, at: new Date(timestampS * 1000) };
}
