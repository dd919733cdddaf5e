import { EVENTS_CHANNEL } from '../events/placing.ts';
import type { Tx } from '../plumbing/database.ts';

/** An account on one network. */
export interface PayerKey {
  readonly network: string;
  readonly address: string;
}

/** The place in the payer's items where the last page ended. */
export interface ErasedTo {
  readonly acceptedAt: Date;
  readonly commitment: string;
}

export interface ErasedPage {
  /** The payments of the page. */
  readonly paymentIds: readonly string[];
  /** Items and payments whose names were erased. */
  readonly erased: number;
  /** Undefined at the end. */
  readonly next: ErasedTo | undefined;
}

/** The name that a wallet without one has. */
const NO_NAME = 'Wallet';

/**
 * Erases the name and the icon of the wallet from items of the payer and their payments, and tells all nodes: they keep
 * final payments in memory. A page has few enough ids for one notification.
 */
export async function eraseWalletNames(
  tx: Tx,
  { network, address }: PayerKey,
  { after, limit }: { readonly after: ErasedTo | undefined; readonly limit: number },
): Promise<ErasedPage> {
  const isLater =
    after === undefined ? tx`true` : tx`(accepted_at, commitment) > (${after.acceptedAt}, ${after.commitment})`;
  const items = await tx<{ subject: string; acceptedAt: Date; commitment: string }[]>`
    select subject, accepted_at as "acceptedAt", commitment from items
    where network = ${network} and payer = ${address} and purpose = 'payment' and ${isLater}
    order by accepted_at, commitment limit ${limit}`;
  const ids = [...new Set(items.map(({ subject }) => subject))];
  const { count: inItems } = await tx`
    update items set buyer_name = ${NO_NAME}, buyer_icon = null
    where commitment = any(${items.map(({ commitment }) => commitment)}::text[])
      and (buyer_name <> ${NO_NAME} or buyer_icon is not null)`;
  const { count: inPayments } = await tx`
    update payments set buyer_name = ${NO_NAME}, buyer_icon = null
    where id = any(${ids}::text[]) and lower(buyer_account) = lower(${`${network}:${address}`})
      and (buyer_name <> ${NO_NAME} or buyer_icon is not null)`;
  if (inPayments > 0) await tx`select pg_notify(${EVENTS_CHANNEL}, ${ids.join(',')})`;
  return { paymentIds: ids, erased: inItems + inPayments, next: items.length < limit ? undefined : items.at(-1) };
}
