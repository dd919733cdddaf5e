import { appendEvents } from '../../store/events/events.ts';
import type { Merchant } from '../../store/parties/merchants.ts';
import type { Tx } from '../../store/plumbing/database.ts';

/** Appends an event to a merchant that the database transaction has created or locked. */
export function logMerchant(
  tx: Tx,
  merchant: Merchant,
  { type, actor }: { readonly type: 'merchant.created' | 'merchant.updated'; readonly actor: string },
): Promise<void> {
  const { id, name, email, status, iconUrl, acceptedAssets, updatedAt, deletedAt } = merchant;
  const data = { name, email, status, iconUrl, acceptedAssets, updatedAt, deletedAt };
  return appendEvents(tx, [{ type, objectId: id, merchantId: id, at: updatedAt, actor, data }]);
}
