import type { RegistryDeps } from '../../../chains/registry.ts';
import { isLasting } from '../../../domain/evidence.ts';
import { SIGNER_REFUSED } from '../../../domain/item.ts';
import { backoffMs } from '../../../runtime/backoff.ts';
import { endItems, type StoredItem } from '../../../store/chain/items.ts';
import { endFailed, lockOutgoing, type Outgoing, renewOutgoing } from '../../../store/money/outgoing.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import type { Lease } from '../../../store/plumbing/leases.ts';
import type { CommandDeps } from '../../command.ts';
import { commandOfLeader } from '../../lease.ts';
import { withdrawOffer } from '../refund/signed/withdraw-offer.ts';
import { CONSEQUENCES } from './purposes.ts';

/** The bound of automatic attempts. The last one begins some hours after the first. */
const MAX_ATTEMPTS = 5;
const RETRY = { firstMs: 60_000, maxMs: 24 * 3_600_000, factor: 4 };

export interface Lapse {
  /** True if a holder of the account's key has used the authorization's nonce. */
  readonly isCancelled: boolean;
  readonly refusal: string | null;
}

/**
 * Ends an attempt after the chain has proved, at final depth, that its item can never be carried out. Only then may another attempt
 * begin. After a refusal with a lasting reason the transfer waits for the operator instead.
 */
export async function lapseOutgoing(
  deps: CommandDeps,
  { item, lease, ...lapse }: Lapse & { readonly item: StoredItem; readonly lease: Lease },
): Promise<void> {
  const { key, commitment, subject } = item;
  const reason = lapse.isCancelled ? 'used' : 'ran_out';
  await commandOfLeader(deps, lease, async (tx, now) => {
    const outgoing = await lockOutgoing(tx, subject);
    await endItems(tx, [{ key, state: 'unpaid', reason }], now);
    if (outgoing?.commitment === commitment) await goOn(tx, deps, outgoing, lapse, now);
  });
}

async function goOn(
  tx: Tx,
  deps: RegistryDeps,
  outgoing: Outgoing,
  { isCancelled, refusal }: Lapse,
  at: Date,
): Promise<void> {
  const { id, attempts, purpose } = outgoing;
  const problem = isCancelled ? 'cancelled' : (refusal ?? 'ran_out');
  if (outgoing.state === 'paid') await CONSEQUENCES[purpose].undone(tx, deps, outgoing, at);
  if (outgoing.signer === 'merchant') return withdrawOffer(tx, deps.registry, outgoing, problem, at);
  // The operator controls the signer's policy, so the signer is asked until it accepts.
  const isLast = attempts >= MAX_ATTEMPTS && problem !== SIGNER_REFUSED;
  if (isCancelled || isLasting(problem) || isLast) {
    await CONSEQUENCES[purpose].failed(tx, deps, { ...outgoing, state: 'sending' }, { problem }, at);
    await endFailed(tx, { id, problem, at });
    return;
  }
  const retryAt = new Date(at.getTime() + backoffMs(RETRY, attempts));
  await renewOutgoing(tx, { id, problem, retryAt, at });
}
