import { differences } from '../../../domain/evidence.ts';
import type { StoredEvent } from '../../../store/chain/chain-events.ts';
import { endItems, type StoredItem } from '../../../store/chain/items.ts';
import { endPaid, lockOutgoing, type Outgoing } from '../../../store/money/outgoing.ts';
import { deleteAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import type { Lease } from '../../../store/plumbing/leases.ts';
import type { CommandDeps } from '../../command.ts';
import { commandOfLeader } from '../../lease.ts';
import type { ArrivalProof } from './consequences.ts';
import { CONSEQUENCES } from './purposes.ts';

/** Concludes a payout, refund or return that has arrived at final depth. Returns a problem if the event cannot be trusted. */
export async function settleOutgoing(
  deps: CommandDeps,
  { event, item, lease }: { event: StoredEvent; item: StoredItem; lease: Lease },
): Promise<{ problem: string | null }> {
  const { key, commitment, subject } = item;
  const differing = differences(event.fields, item);
  if (differing.length > 0) return { problem: `it differs from its item in ${differing.join(', ')}` };
  const proof = { transaction: event.transactionHash, block: event.blockNumber };
  const problem = await commandOfLeader(deps, lease, async (tx, now) => {
    const outgoing = await lockOutgoing(tx, subject);
    if (outgoing === undefined) return 'nothing is known that it was sent for';
    if (outgoing.commitment !== commitment) return 'another attempt has taken its place';
    await endItems(tx, [{ key, state: 'paid', reason: null, proof }], now);
    // A transfer that is already `paid` was concluded before: a deep reorg then removed it, and it was carried out again. If the same
    // transaction on chain carried it out again, the consequences of the first conclusion stay valid.
    const isKnown = outgoing.state === 'paid' && outgoing.transactionHash === proof.transaction;
    if (outgoing.state === 'paid' && !isKnown) await CONSEQUENCES[outgoing.purpose].undone(tx, deps, outgoing, now);
    if (!isKnown) await concludePaid(tx, outgoing, proof, now);
    await deleteAlert(tx, { name: 'deep_reorg', subject });
    return null;
  });
  deps.world.crashPoint?.('outgoing.settled');
  return { problem };
}

/** Ends a transfer that this database transaction has locked, with its consequences. */
export async function concludePaid(tx: Tx, outgoing: Outgoing, proof: ArrivalProof, at: Date): Promise<void> {
  await CONSEQUENCES[outgoing.purpose].paid(tx, outgoing, proof, at);
  await endPaid(tx, { id: outgoing.id, hash: proof.transaction, at });
}
