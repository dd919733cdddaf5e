import { payoutEntry } from '../../../domain/books.ts';
import { endFailed, lockOutgoing, type Outgoing } from '../../../store/money/outgoing.ts';
import { findDestinationFor, isBeyondLots, NOT_HELD } from '../../../store/money/payable-lots.ts';
import { markPositionsOutdated } from '../../../store/money/positions.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import { aboutOutgoing, paymentOfOutgoing } from '../order/about-outgoing.ts';
import { holdAgain } from './hold-again.ts';
import { logPayouts } from './log-payouts.ts';

/**
 * Ends an unsigned payout whose recipient is no longer the destination in force, and holds its lots again. The destination can change
 * while a freeze or a missing key delays the signature. Returns true if the payout needs no signature any more.
 */
export async function recallMisdirected(deps: CommandDeps, payout: Outgoing): Promise<boolean> {
  const { network, asset, recipient, merchantId } = payout;
  return recallIf(deps, payout, 'destination_changed', async (db) => {
    const destination = await findDestinationFor(db, { merchantId: merchantId ?? '', asset });
    return destination !== `${network}:${recipient}`;
  });
}

/**
 * Ends an unsigned payout whose money was removed by a reorganisation. Without this the payout would wait forever, together with other
 * money of the payment. If the money arrives again, it gets a new payout. Returns true if the payout needs no signature any more.
 */
export async function recallUnheld(deps: CommandDeps, payout: Outgoing): Promise<boolean> {
  return recallIf(deps, payout, NOT_HELD, (db) => isBeyondLots(db, payout.id));
}

/**
 * Ends an unsigned payout if `isOver` is true. The condition is checked without a lock first, because it is rarely true, and again under
 * the lock of the payout. Planned terms without an item were never published, so they cannot be carried out.
 */
async function recallIf(
  deps: CommandDeps,
  { id, purpose }: Outgoing,
  problem: string,
  isOver: (db: Reader) => Promise<boolean>,
): Promise<boolean> {
  if (purpose !== 'payout' || !(await isOver(deps.db.sql))) return false;
  return command(deps, async (tx, at) => {
    const outgoing = await lockOutgoing(tx, id);
    if (outgoing?.state !== 'sending' || outgoing.isDue) return true;
    if (!(await isOver(tx))) return false;
    await holdAgain(tx, outgoing, { problem, retryAt: at });
    await recordEntries(tx, [payoutEntry('failed', aboutOutgoing(outgoing), BigInt(outgoing.amount))], at);
    await logPayouts(tx, [outgoing], { type: 'payout.failed', actor: 'payer-out', evidence: { problem } }, at);
    await endFailed(tx, { id, problem, at });
    await deleteAlert(tx, { name: 'outgoing_refused', subject: id });
    // The position must be computed again, because the deleted spends of the payout no longer cause a debt.
    await markPositionsOutdated(tx, [paymentOfOutgoing(outgoing)], at);
    return true;
  });
}
