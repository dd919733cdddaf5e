import { payoutEntry } from '../../../domain/books.ts';
import { endFailed, lockOutgoing, type Outgoing } from '../../../store/money/outgoing.ts';
import { findDestinationFor, isBeyondLots, NOT_HELD } from '../../../store/money/payable-lots.ts';
import { markPositionsOutdated } from '../../../store/money/positions.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import { aboutOutgoing, paymentOfOutgoing } from '../order/about-outgoing.ts';
import { holdAgain } from './hold-again.ts';
import { logPayouts } from './log-payouts.ts';

/**
 * Ends a payout whose recipient is no longer the destination in force, and holds its lots again. Returns true if it did. This
 * happens while a freeze or a missing key keeps the payout from being signed.
 */
export async function recallMisdirected(deps: CommandDeps, payout: Outgoing): Promise<boolean> {
  const { id, purpose, network, asset, recipient, merchantId } = payout;
  if (purpose !== 'payout') return false;
  const destination = await findDestinationFor(deps.db.sql, { merchantId: merchantId ?? '', asset });
  return destination !== `${network}:${recipient}` && recall(deps, id, 'destination_changed');
}

/**
 * Ends a payout that was not signed before a reorganisation removed its money. Returns true if it did. The payout would wait for
 * ever, and other money of the payment with it. Money that comes again gets a payout of its own.
 */
export async function recallUnheld(deps: CommandDeps, { id, purpose }: Outgoing): Promise<boolean> {
  return purpose === 'payout' && (await isBeyondLots(deps.db.sql, id)) && recall(deps, id, NOT_HELD);
}

/** Planned terms without an item were never published, so they cannot be carried out. */
function recall(deps: CommandDeps, id: string, problem: string): Promise<boolean> {
  return command(deps, async (tx, at) => {
    const outgoing = await lockOutgoing(tx, id);
    if (outgoing?.state !== 'sending' || outgoing.isDue) return true;
    await holdAgain(tx, outgoing, { problem, retryAt: at });
    await recordEntries(tx, [payoutEntry('failed', aboutOutgoing(outgoing), BigInt(outgoing.amount))], at);
    await logPayouts(tx, [outgoing], { type: 'payout.failed', actor: 'payer-out', evidence: { problem } }, at);
    await endFailed(tx, { id, problem, at });
    await deleteAlert(tx, { name: 'outgoing_refused', subject: id });
    // Its spends are no debt any more.
    await markPositionsOutdated(tx, [paymentOfOutgoing(outgoing)], at);
    return true;
  });
}
