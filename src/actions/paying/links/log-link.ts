import { appendEvents } from '../../../store/events/events.ts';
import type { PaymentLink } from '../../../store/payments/payment-links.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

interface LinkLog {
  readonly type: 'payment_link.created' | 'payment_link.updated' | 'payment_link.sold_out';
  readonly actor: string;
  readonly at: Date;
}

/** Appends an event to a link that this database transaction has created or locked. */
export function logLink(tx: Tx, link: PaymentLink, { type, actor, at }: LinkLog): Promise<void> {
  const { id: objectId, merchantId, description, stock, taken, status, expiresAt, pictureHash, acceptedAssets } = link;
  const data = { description, stock, taken, status, expiresAt, pictureHash, acceptedAssets };
  return appendEvents(tx, [{ type, objectId, merchantId, at, actor, data }]);
}
