import { decideRefund, type RefundEvent } from '../../../domain/refund.ts';
import { type Refund, updateRefund } from '../../../store/money/refunds.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

export interface RefundChange {
  readonly event: RefundEvent;
  /** Who says so: a worker's name, or the operator. */
  readonly actor: string;
  /** What proves it, kept with the move. */
  readonly evidence: Readonly<Record<string, unknown>>;
  readonly transactionHash?: string;
  readonly problem?: string;
}

/** Moves a refund that this transaction has locked; everything that does so goes through here. */
export async function moveRefund(tx: Tx, refund: Refund, change: RefundChange, at: Date): Promise<void> {
  const { event, actor, evidence, transactionHash = null, problem = null } = change;
  const to = decideRefund(refund.state, event);
  if (to === undefined) throw new Error(`A refund that is ${refund.state} cannot be ${event}.`);
  const isMoved = await updateRefund(tx, { refund, to, event, actor, evidence, transactionHash, problem }, at);
  if (!isMoved) throw new Error('A locked refund was moved by somebody else.');
}

/** How the books name a refund. */
export function aboutRefund({ id, network, asset, merchantId }: Refund) {
  return { network, asset, subject: id, reference: id, merchantId };
}
