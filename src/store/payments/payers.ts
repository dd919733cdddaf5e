import { EVENTS_CHANNEL } from '../events/placing.ts';
import type { Tx } from '../plumbing/database.ts';

export interface PayerKey {
  readonly network: string;
  readonly address: string;
}

/** The position after the last page: in the items that the payer signed, or in the payments that received its transfers. */
export type ErasedTo = { readonly acceptedAt: Date; readonly commitment: string } | { readonly sentTo: string };

export interface ErasedPage {
  readonly paymentIds: readonly string[];
  /** The number of items and payments whose names were erased. */
  readonly erased: number;
  /** Undefined after the last page. */
  readonly next: ErasedTo | undefined;
}

/** The name of a wallet that reported none. */
const NO_NAME = 'Wallet';

/**
 * Erases the name and icon of the wallet from the payer's items and their payments: first from those that the payer signed, then
 * from those whose deposit addresses received money from the payer.
 */
export async function eraseWalletNames(
  tx: Tx,
  payer: PayerKey,
  { after, limit }: { readonly after: ErasedTo | undefined; readonly limit: number },
): Promise<ErasedPage> {
  if (after !== undefined && 'sentTo' in after) return eraseSent(tx, payer, { after: after.sentTo, limit });
  const signed = await eraseSigned(tx, payer, { after, limit });
  if (signed.next !== undefined) return signed;
  const sent = await eraseSent(tx, payer, { after: '', limit });
  return {
    paymentIds: [...new Set([...signed.paymentIds, ...sent.paymentIds])],
    erased: signed.erased + sent.erased,
    next: sent.next,
  };
}

async function eraseSigned(
  tx: Tx,
  payer: PayerKey,
  { after, limit }: { readonly after: Exclude<ErasedTo, { sentTo: string }> | undefined; readonly limit: number },
): Promise<ErasedPage> {
  const isLater =
    after === undefined ? tx`true` : tx`(accepted_at, commitment) > (${after.acceptedAt}, ${after.commitment})`;
  const items = await tx<{ subject: string; acceptedAt: Date; commitment: string }[]>`
    select subject, accepted_at as "acceptedAt", commitment from items
    where network = ${payer.network} and payer = ${payer.address} and purpose = 'payment' and ${isLater}
    order by accepted_at, commitment limit ${limit}`;
  const paymentIds = [...new Set(items.map(({ subject }) => subject))];
  const commitments = items.map(({ commitment }) => commitment);
  const erased = await eraseNames(tx, payer, { paymentIds, commitments });
  return { paymentIds, erased, next: items.length < limit ? undefined : items.at(-1) };
}

async function eraseSent(
  tx: Tx,
  payer: PayerKey,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<ErasedPage> {
  const deposits = await tx<{ paymentId: string; commitments: string[] }[]>`
    select d.payment_id as "paymentId", to_json(array_agg(d.commitment)) as commitments
    from deposits d
    where d.payment_id > ${after} and d.commitment in (
      select t.commitment from movements t
      where t.network = ${payer.network} and lower(t.sender) = lower(${payer.address}))
    group by d.payment_id order by d.payment_id limit ${limit}`;
  const paymentIds = deposits.map(({ paymentId }) => paymentId);
  const commitments = deposits.flatMap((deposit) => deposit.commitments);
  const erased = await eraseNames(tx, payer, { paymentIds, commitments });
  const sentTo = paymentIds.at(-1);
  return { paymentIds, erased, next: deposits.length < limit || sentTo === undefined ? undefined : { sentTo } };
}

/**
 * Erases names, and notifies all nodes, because they cache final payments. A page has few enough ids for one notification. Returns
 * the number of items and payments.
 */
async function eraseNames(
  tx: Tx,
  { network, address }: PayerKey,
  { paymentIds, commitments }: { readonly paymentIds: readonly string[]; readonly commitments: readonly string[] },
): Promise<number> {
  const { count: inItems } = await tx`
    update items set buyer_name = ${NO_NAME}, buyer_icon = null
    where commitment = any(${commitments as string[]}::text[]) and (buyer_name <> ${NO_NAME} or buyer_icon is not null)`;
  const { count: inPayments } = await tx`
    update payments set buyer_name = ${NO_NAME}, buyer_icon = null
    where id = any(${paymentIds as string[]}::text[]) and lower(buyer_account) = lower(${`${network}:${address}`})
      and (buyer_name <> ${NO_NAME} or buyer_icon is not null)`;
  if (inPayments > 0) await tx`select pg_notify(${EVENTS_CHANNEL}, ${paymentIds.join(',')})`;
  return inItems + inPayments;
}
