import { ChainUnavailableError } from '../../chains/chain-errors.ts';
import type { Block, ChainReader } from '../../chains/chain-reader.ts';
import {
  type ChainCursor,
  deleteBlocksAbove,
  listSeenBlocks,
  moveCursor,
  type SeenBlock,
} from '../../store/chain/chain-cursors.ts';
import { deleteEventsAbove } from '../../store/chain/chain-events.ts';
import { findItemsOfEvents } from '../../store/chain/items.ts';
import { deleteMovementsAbove, markPlacesToCheck } from '../../store/chain/movements.ts';
import { markPositionsOutdated } from '../../store/money/positions.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import { upsertAlert } from '../../store/plumbing/alerts.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { reopenItems } from '../books/record.ts';
import { askWitnesses, describeStatements } from '../evidence.ts';
import { commandOfLeader } from '../lease.ts';
import { undoAccountMovements } from '../outgoing/return/undo-account-movements.ts';
import { notePayments } from '../paying/note-payments.ts';
import { settleOrLeaveOutdated } from './deposits/settle-position.ts';
import type { WatchDeps, Watcher } from './watcher.ts';

const COMPARED_AT_ONCE = 16;

/**
 * Deletes the stored blocks and events above the last block that is still in the chain. Events that were not final had no effect yet.
 * Final events keep their effect: the payment stays succeeded, its log and an alert record the reorg, and its item is due again, so
 * that the money arrives after all.
 */
export async function rollBack(deps: WatchDeps, watcher: Watcher, cursor: ChainCursor): Promise<ChainCursor> {
  const { chain, network, lease } = watcher;
  const seen = (await listSeenBlocks(deps.db.sql, network)).filter(({ number }) => number <= cursor.blockNumber);
  const fork = (await lastShared(chain.reader, seen)) ?? (await belowAll(watcher, seen, cursor));
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
    const lost = await deleteMovementsAbove(tx, network, fork.number);
    const { unpaid, unswept } = await deleteEventsAbove(tx, network, fork.number, at);
    const revived = await reopenItems(tx, await findItemsOfEvents(tx, network, unpaid), at);
    await computeAgain(tx, deps, { network, lost, unswept }, at);
    await undoAccountMovements(tx, { network, above: fork.number }, at);
    for (const { subject } of revived) {
      const message = 'A reorganisation deeper than final depth removed its transaction; it is being sent again.';
      await upsertAlert(tx, { name: 'deep_reorg', subject, message, lastSeen: at });
    }
    const evidence = { network, fork: fork.number, forkHash: fork.hash };
    const note = { type: 'payment.reorged', actor: 'watcher' } as const;
    const reopened = new Set(revived.flatMap(({ subject, purpose }) => (purpose === 'payment' ? [subject] : [])));
    await notePayments(tx, [...reopened], { ...note, evidence }, at);
    // Money at a deposit address came from the payer. The gateway cannot send it again.
    const notSentAgain = lost.filter((id) => !reopened.has(id));
    await reportLost(tx, notSentAgain, at);
    await notePayments(tx, notSentAgain, { ...note, evidence: { ...evidence, lost: true } }, at);
    await moveCursor(tx, next, { fencing: lease.fencing, at });
    return [...revived.map(({ subject }) => subject), ...lost];
  });
  const depth = cursor.blockNumber - fork.number;
  deps.meters.reorg(network, depth);
  deps.log[isDeep ? 'error' : 'info']({ network, fork: fork.number, depth, payments: subjects }, 'chain reorganised');
  return next;
}

/** Computes the money of payments again whose proved movements or decided sweeps have left the chain. */
async function computeAgain(
  tx: Tx,
  deps: WatchDeps,
  gone: {
    readonly network: string;
    readonly lost: readonly string[];
    readonly unswept: readonly { readonly commitment: string; readonly paymentId: string }[];
  },
  at: Date,
): Promise<void> {
  const { network, lost, unswept } = gone;
  const payments = [...new Set([...lost, ...unswept.map(({ paymentId }) => paymentId)])].toSorted();
  if (payments.length === 0) return;
  await lockPayments(tx, payments);
  await markPlacesToCheck(tx, network, [...new Set(unswept.map(({ commitment }) => commitment))]);
  await markPositionsOutdated(tx, payments, at);
  for (const paymentId of payments) await settleOrLeaveOutdated(tx, deps, paymentId, at);
}

async function reportLost(tx: Tx, payments: readonly string[], at: Date): Promise<void> {
  for (const subject of payments) {
    const message =
      'A reorganisation deeper than final depth removed money from the deposit address. Unless the chain includes the transfer again, the payer has to send it again.';
    await upsertAlert(tx, { name: 'deep_reorg', subject, message, lastSeen: at });
  }
}

/**
 * Throws unless enough endpoints show that the last final block has left the chain. Only then may final items be reopened: a lying
 * endpoint must neither raise false alarms nor cause authorizations to be sent again.
 */
async function refuseFalseReorg(
  { chain, network, memory }: Watcher,
  { finalNumber }: ChainCursor,
  seen: readonly SeenBlock[],
): Promise<void> {
  const known = seen.find(({ number }) => number === finalNumber);
  if (known === undefined) return;
  const isGone = (block: Block | undefined) => (block === undefined ? undefined : block.hash !== known.hash);
  const { finding, statements } = await askWitnesses(chain.reader, async (witness) =>
    isGone(await witness.block(finalNumber)),
  );
  const isProved = (finding.is === 'agreed' || finding.is === 'alone') && finding.value;
  if (isProved) {
    memory.disputes.delete('reorganisation');
    return;
  }
  const answers = describeStatements(statements, (gone) => (gone ? 'it is gone' : 'it is there'));
  if (finding.is === 'disputed')
    memory.disputes.set('reorganisation', `Whether block ${finalNumber} is gone: ${answers}.`);
  throw new ChainUnavailableError(network, `one endpoint shows another branch below block ${finalNumber}: ${answers}`);
}

/** The highest stored block that is still in the chain. */
async function lastShared(reader: ChainReader, seen: readonly SeenBlock[]): Promise<SeenBlock | undefined> {
  for (let start = 0; start < seen.length; start += COMPARED_AT_ONCE) {
    const some = seen.slice(start, start + COMPARED_AT_ONCE);
    const current = await Promise.all(some.map(({ number }) => reader.block(number)));
    const shared = some.find(({ hash }, index) => current[index]?.hash === hash);
    if (shared !== undefined) return shared;
  }
  return undefined;
}

/** The block below the oldest stored block. If no stored block is left in the chain, reading starts again there. */
async function belowAll({ chain, network }: Watcher, seen: readonly SeenBlock[], cursor: ChainCursor) {
  const lowest = seen.at(-1)?.number ?? cursor.blockNumber;
  const block = await chain.reader.block(Math.max(0, lowest - 1));
  if (block === undefined) throw new ChainUnavailableError(network, 'it is shorter than the blocks already read');
  return seenBlock(block);
}

export function seenBlock({ number, hash, parentHash, timestampS }: Block): SeenBlock {
  return { number, hash, parentHash, at: new Date(timestampS * 1000) };
}
