import type { PaymentEvent } from '../../domain/payment.ts';
import type { StoredItem } from '../../store/chain/items.ts';

/** The move to `processing` by a transaction of the payer's own: who pays, and with what, stands in the item. */
export function confirmedByCoin({ account, buyerName, buyerIcon, asset, amount }: StoredItem): PaymentEvent {
  const buyer = { account, name: buyerName, icon: buyerIcon };
  return { type: 'confirmed', buyer, token: { asset, value: BigInt(amount) }, isNative: true };
}
