import type { LateState } from '../../../domain/late-money.ts';
import { releaseUnexpected, type UnexpectedMoney } from '../../../store/money/unexpected-money.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { notePayments } from '../../paying/note-payments.ts';

interface Note {
  readonly status: LateState;
  /** The address that gets the money. Null if the money is unclaimed again. */
  readonly recipient: string | null;
  readonly problem?: string;
  readonly actor: string;
  readonly evidence?: Readonly<Record<string, unknown>>;
}

/**
 * Reports a change of late money to the partner by an event of the payment. The caller has locked the payment before the unexpected
 * money.
 */
export async function noteReturn(tx: Tx, unexpected: UnexpectedMoney, note: Note, at: Date): Promise<void> {
  const { id, network, asset, amount, paymentId, reason } = unexpected;
  if (paymentId === null) return;
  const { status, recipient, problem = null, actor, evidence } = note;
  const destination = recipient === null ? null : `${network}:${recipient}`;
  const lateMoney = { id, reason: reason ?? 'late', asset, amount, status, destination, problem };
  const type = 'payment.late_money_updated';
  await notePayments(tx, [paymentId], { type, actor, evidence: { stray: id, ...evidence }, lateMoney }, at);
}

/**
 * Ends a return that did not happen. The unexpected money, whose row the caller has locked, is unclaimed again, and another account can
 * be named.
 */
export async function endReturn(
  tx: Tx,
  unexpected: UnexpectedMoney,
  end: Required<Pick<Note, 'problem'>> & Pick<Note, 'actor' | 'evidence'>,
  at: Date,
): Promise<void> {
  const { id, state } = unexpected;
  if (state !== 'requested' && state !== 'returning')
    throw new Error(`Unexpected money that is ${state} has no return to end.`);
  if (!(await releaseUnexpected(tx, { id, from: state, problem: end.problem, at }))) {
    throw new Error('A locked row of unexpected money was moved by another transaction.');
  }
  await noteReturn(tx, unexpected, { status: 'unclaimed', recipient: null, ...end }, at);
}
