import { paymentOfOutgoing } from '../../actions/outgoing/order/about-outgoing.ts';
import { findTransactionId, isAddressForm } from '../../domain/addresses/families.ts';
import { parseAccount } from '../../domain/caip.ts';
import { isId, paymentIdOf } from '../../domain/ids.ts';
import { findOutgoingOf } from '../../store/money/outgoing.ts';
import type { PaymentFilter, PaymentName } from '../../store/payments/payment-filter.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import { paymentIdIn } from './payment-id.ts';

/**
 * Turns a search text into a filter. The text names payments (by an id, a URL, a transaction or a payer), or is a part of a reference id.
 * It cannot be both: a reference id has at most 35 characters and no underscore.
 */
export async function readSearch(
  db: Reader,
  publicUrl: string,
  text: string,
): Promise<Pick<PaymentFilter, 'named' | 'referencePart'>> {
  const named = (name: PaymentName) => ({ named: name, referencePart: undefined });
  if (isId('rfnd_', text)) return named({ by: 'id', id: paymentIdOf(text) });
  const id = paymentIdIn(text, publicUrl);
  if (id !== undefined) return named({ by: 'id', id });
  const hash = findTransactionId(text);
  if (hash !== undefined) {
    const outgoing = await findOutgoingOf(db, hash);
    return named({ by: 'transaction', hash, paymentIds: outgoing.map(paymentOfOutgoing) });
  }
  if (isAddressForm(text)) return named({ by: 'payer', address: text, chainId: undefined });
  const account = parseAccount(text);
  if (account.ok) {
    return named({ by: 'payer', address: account.value.address, chainId: account.value.chainId });
  }
  return { named: undefined, referencePart: text };
}
