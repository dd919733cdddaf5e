import type { PaymentEvent } from '../../domain/payment.ts';
import type { StoredItem } from '../../store/chain/items.ts';

/** The event that moves a payment to `processing` because of the payer's own transaction. The item names payer and asset. */
export function confirmedByCoin({ account, buyerName, buyerIcon, asset, amount }: StoredItem): PaymentEvent {
  const buyer = { account, name: buyerName, icon: buyerIcon };
  return { type: 'confirmed', buyer, token: { asset, value: BigInt(amount) }, isNative: true };
}
