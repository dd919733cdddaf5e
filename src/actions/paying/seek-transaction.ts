import { ChainUnavailableError } from '../../chains/chain-errors.ts';
import type { Chains } from '../../chains/chains.ts';
import { itemOf, type StoredItem } from '../../store/chain/items.ts';
import type { Payment } from '../../store/payments/payments.ts';
import { confirmedByCoin } from './confirmed-by-coin.ts';
import type { PaymentMover } from './payment-mover.ts';

export interface SoughtTransaction {
  /** The coin action that was given to the wallet. */
  readonly item: StoredItem;
  readonly hash: string;
  /** `key:<id>` or `app:<id>`. */
  readonly actor: string;
}

/**
 * Searches once for the transaction that a wallet named. If an endpoint shows it, the payment moves to `processing`, and the moved
 * payment is returned. Undefined if no endpoint shows it, or none answers. The hash alone moves nothing, because anybody can invent
 * one.
 */
export async function seekTransaction(
  deps: { readonly chains: Chains; readonly movePayment: PaymentMover },
  { item, hash, actor }: SoughtTransaction,
): Promise<Payment | undefined> {
  const chain = deps.chains.find(item.network)?.chain;
  const isShown = await chain?.payerSide.isPaymentShown(itemOf(item), hash).catch(orNotShown);
  if (isShown !== true) return undefined;
  const evidence = { commitment: item.commitment, transaction: hash };
  const outcome = await deps.movePayment({ paymentId: item.subject, event: confirmedByCoin(item), actor, evidence });
  return outcome.payment;
}

function orNotShown(error: unknown): false {
  if (error instanceof ChainUnavailableError) return false;
  throw error;
}
