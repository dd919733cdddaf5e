import { amountText } from '../../../chains/amount-text.ts';
import type { Registry } from '../../../chains/registry.ts';
import { ApiError } from '../../../errors.ts';
import type { ListIdentity, Screening } from '../../../screening/screening.ts';
import type { Refund } from '../../../store/money/refunds.ts';
import { upsertAlert } from '../../../store/plumbing/alerts.ts';
import type { Tx } from '../../../store/plumbing/database.ts';
import { moveRefund } from './move-refund.ts';

export const SCREENED = 'recipient_screened';

/** The screening list that names the recipient. Undefined if none does. */
export function listNaming(
  screening: Screening,
  { network, recipient }: { readonly network: string; readonly recipient: string },
): ListIdentity | undefined {
  const { hits, list } = screening.decide([`${network}:${recipient}`]);
  return hits.length > 0 && list !== null ? list : undefined;
}

/** Throws if the recipient is on the present screening list, so that no merchant signs a refund to it. */
export function refuseListed(
  screening: Screening,
  refund: { readonly network: string; readonly recipient: string },
): void {
  if (listNaming(screening, refund) === undefined) return;
  throw new ApiError('sanctioned_user', 'The recipient of the refund is on the screening list.');
}

/**
 * Ends a locked, uncovered refund whose recipient is on the present screening list, and returns the ended refund. Undefined if the
 * recipient is not listed. A held amount stays reserved for the refund, which the operator can retry when the list has changed.
 */
export async function screenRefund(
  tx: Tx,
  registry: Registry,
  screening: Screening,
  { refund, actor, at }: { refund: Refund; actor: string; at: Date },
): Promise<Refund | undefined> {
  const list = listNaming(screening, refund);
  if (list === undefined) return undefined;
  const { id, recipient } = refund;
  const ended = await moveRefund(
    tx,
    refund,
    { event: 'screened', actor, evidence: { screening: list }, problem: SCREENED },
    at,
  );
  const message = `A refund of ${amountText(registry, refund.asset, refund.amount)} is not sent: ${recipient} is on the screening list ${list.version} of ${list.date}. When it no longer is: till refunds retry ${id}`;
  await upsertAlert(tx, { name: 'refund_failed', subject: id, message, lastSeen: at });
  return ended;
}
