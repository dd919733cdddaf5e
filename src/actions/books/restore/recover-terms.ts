import type { ConnectedChain } from '../../../chains/chains.ts';
import { findAsset } from '../../../chains/networks.ts';
import { listFeeAccounts } from '../../../store/money/restored-outgoing.ts';
import type { CommandDeps } from '../../command.ts';
import type { PaidEvent } from '../audit/paid-event.ts';
import { isSame, subjectOfEvent } from '../audit/paid-event.ts';

/** What an item was made of besides what its event tells. */
export interface RecoveredTerms {
  readonly method: NonNullable<NonNullable<ReturnType<typeof findAsset>>['pay']>['method'];
  readonly feeAccount: string;
  readonly deadline: Date;
  readonly paidAt: Date;
}

/** Nothing is signed for longer, but for coin that was asked for in coin. */
const MAX_LIFE_S = 2 * 3_600;

/**
 * No event tells when an item would have run out and where its fee went, but the commitment is the hash of all of it: of
 * the fee accounts there ever were and the seconds after its block, one pair fits. Where none does, it is put down with
 * the time of its block, and has no receipt.
 */
export async function recoverTerms(
  { db }: CommandDeps,
  { chain, feeAccount: present }: ConnectedChain,
  event: PaidEvent,
): Promise<RecoveredTerms> {
  const { collector, asset, payer, recipient, amount, fee, commitment } = event;
  const network = chain.network.chainId;
  const block = await chain.block(event.block.number);
  const paidAtS = block?.timestampS ?? 0;
  const paidAt = new Date(paidAtS * 1000);
  const method = findAsset(asset)?.pay?.method ?? 'eip3009-vrs';
  const past = await listFeeAccounts(db.sql, network);
  const subject = subjectOfEvent(event);
  const item = { network, collector, asset, method, subject, payer, recipient, amount, fee };
  for (const feeAccount of [present, ...past.filter((account) => !isSame(account, present))]) {
    for (let deadlineS = paidAtS; deadlineS <= paidAtS + MAX_LIFE_S; deadlineS += 1) {
      if (chain.commitmentOf({ ...item, feeAccount, deadlineS }) !== commitment) continue;
      return { method, feeAccount, deadline: new Date(deadlineS * 1000), paidAt };
    }
  }
  return { method, feeAccount: present, deadline: paidAt, paidAt };
}
