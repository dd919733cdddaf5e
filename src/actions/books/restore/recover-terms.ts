import type { ConnectedChain } from '../../../chains/chains.ts';
import type { PayTerms } from '../../../chains/network.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { listFeeAccounts } from '../../../store/money/restored-outgoing.ts';
import type { CommandDeps } from '../../command.ts';
import { termsOfEvent } from '../../event-subject.ts';
import { askBlock } from '../../evidence.ts';
import type { PaidEvent } from '../audit/paid-event.ts';

/** The terms of an item that events of the first release do not show. */
export interface RecoveredTerms {
  readonly method: PayTerms['method'];
  readonly feeAccount: string;
  readonly deadline: Date;
  readonly paidAt: Date;
}

/**
 * Deadlines up to this long after the block are tried. It is longer than any signature is valid: 12 minutes for a payment
 * (`domain/option.ts`), one hour for an outgoing transfer (`begin-outgoing.ts`).
 */
const MAX_LIFE_S = 2 * 3_600;

/**
 * Recovers the terms of the item of an event. Newer events show all terms. Events of the first release show neither deadline nor fee
 * account, but the commitment is a hash that includes both. So all known fee accounts and all seconds after the block are tried until
 * one pair fits. If none fits, the item gets the time of its block as deadline, and has no receipt.
 */
export async function recoverTerms(
  { db }: CommandDeps,
  { chain, feeAccount: present }: ConnectedChain,
  event: PaidEvent,
): Promise<RecoveredTerms> {
  const { collector, asset, payer, recipient, amount, fee, commitment, id: subject } = event;
  const network = chain.network.chainId;
  const { block } = await askBlock(chain.reader, event.block.number);
  const paidAtS = block.timestampS;
  const paidAt = new Date(paidAtS * 1000);
  const shown = termsOfEvent(chain.network, event);
  if (shown !== undefined) {
    const { method, feeAccount, deadlineS } = shown;
    return { method: method as RecoveredTerms['method'], feeAccount, deadline: new Date(deadlineS * 1000), paidAt };
  }
  const method = chain.payerSide.methodOf(asset);
  const past = await listFeeAccounts(db.sql, network);
  const item = { network, collector, asset, method, subject, payer, recipient, amount, fee };
  for (const feeAccount of [present, ...past.filter((account) => !isSameAddress(network, account, present))]) {
    for (let deadlineS = paidAtS; deadlineS <= paidAtS + MAX_LIFE_S; deadlineS += 1) {
      if (chain.payerSide.commitmentOf({ ...item, feeAccount, deadlineS }) !== commitment) continue;
      return { method, feeAccount, deadline: new Date(deadlineS * 1000), paidAt };
    }
  }
  return { method, feeAccount: present, deadline: paidAt, paidAt };
}
