import { payoutEntry } from '../../../domain/books.ts';
import { endFailed, lockOutgoing, type Outgoing } from '../../../store/money/outgoing.ts';
import { findDestinationFor } from '../../../store/money/payable-lots.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import { aboutOutgoing } from '../order/about-outgoing.ts';
import { holdAgain } from './hold-again.ts';
import { logPayouts } from './log-payouts.ts';

const PROBLEM = 'destination_changed';

/**
 * Ends a payout whose recipient is no longer the destination in force, and holds its lots again. Returns true if it did. This
 * happens while a freeze or a missing key keeps the payout from being signed. Planned terms without an item were never published,
 * so they cannot be carried out.
 */
export async function recallPayout(deps: CommandDeps, payout: Outgoing): Promise<boolean> {
  const { id, purpose, network, asset, recipient, merchantId } = payout;
  if (purpose !== 'payout') return false;
  const isInForce = (destination: string | undefined) => destination === `${network}:${recipient}`;
  const destination = await findDestinationFor(deps.db.sql, { merchantId: merchantId ?? '', asset });
  if (isInForce(destination)) return false;
  return command(deps, async (tx, at) => {
    const outgoing = await lockOutgoing(tx, id);
    if (outgoing?.state !== 'sending' || outgoing.isDue) return true;
    await holdAgain(tx, outgoing, { problem: PROBLEM, retryAt: at });
    await recordEntries(tx, [payoutEntry('failed', aboutOutgoing(outgoing), BigInt(outgoing.amount))], at);
    const evidence = { problem: PROBLEM };
    await logPayouts(tx, [outgoing], { type: 'payout.failed', actor: 'payer-out', evidence }, at);
    await endFailed(tx, { id, problem: PROBLEM, at });
    return true;
  });
}
