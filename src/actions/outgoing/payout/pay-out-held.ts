import type { Chains } from '../../../chains/chains.ts';
import { payoutEntry } from '../../../domain/books.ts';
import { parseAccount } from '../../../domain/caip.ts';
import { payoutIdOf } from '../../../domain/ids.ts';
import type { NewOutgoing } from '../../../store/money/outgoing.ts';
import { lockPayablePayouts, type PayablePayout, startPayouts } from '../../../store/money/payouts.ts';
import { recordEntries } from '../../books/record.ts';
import { type CommandDeps, command } from '../../command.ts';
import { ownDestinations } from '../../parties/destination-rows.ts';
import { shareFreezes } from '../../parties/freeze-heads.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { aboutOutgoing } from '../about-outgoing.ts';
import { orderOutgoing } from '../order-outgoing.ts';
import { logPayouts } from './log-payouts.ts';

const MAX_PAYOUTS = 500;

/**
 * Pays held amounts out to merchants that have registered a destination. Returns true if there are more. A payout and a
 * refund claim a held amount by the same guarded update, so only one of them gets it.
 */
export async function payOutHeld(deps: CommandDeps & RowKeyDeps & { chains: Chains }): Promise<boolean> {
  const networks = deps.chains.list().flatMap(({ chain, intermediateSigner }) => {
    return intermediateSigner === undefined ? [] : [chain.network.chainId];
  });
  if (networks.length === 0) return false;
  return command(deps, async (tx, now) => {
    await shareFreezes(tx, deps);
    const payable = await lockPayablePayouts(tx, { networks, now, limit: MAX_PAYOUTS });
    const payouts = await ownDestinations(tx, deps, payable, now);
    if (payouts.length === 0) return false;
    await startPayouts(tx, payouts, now);
    const rows = payouts.map(outgoingOf);
    const begun = new Set(await orderOutgoing(tx, deps, rows, now));
    if (begun.size !== rows.length) throw new Error('A held amount is on its way already.');
    const entries = rows.map((row) => payoutEntry('sent', aboutOutgoing(row), row.amount));
    await recordEntries(tx, entries, now);
    await logPayouts(tx, rows, { type: 'payout.begun', actor: 'payer-out', evidence: {} }, now);
    return payouts.length === MAX_PAYOUTS;
  });
}

function outgoingOf({
  paymentId,
  merchantId,
  network,
  asset,
  method,
  account,
  amount,
  destination,
}: PayablePayout): NewOutgoing {
  return {
    id: payoutIdOf(paymentId),
    purpose: 'payout',
    network,
    asset,
    method,
    payer: account,
    recipient: addressOf(destination),
    amount: BigInt(amount),
    merchantId,
    floatOwner: null,
  };
}

function addressOf(destination: string): string {
  const account = parseAccount(destination);
  if (!account.ok) throw new Error('A stored destination is not an account.');
  return account.value.address;
}
