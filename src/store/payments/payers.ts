import { addressKey, caipKey } from '../../domain/addresses/families.ts';
import type { ItemKey } from '../../domain/item.ts';
import { EVENTS_CHANNEL } from '../events/placing.ts';
import { addressKeySql } from '../plumbing/address-key.ts';
import type { Tx } from '../plumbing/database.ts';

export interface PayerKey {
  readonly network: string;
  readonly address: string;
}

/**
 * The position where the last page ended: among the items that the payer signed, or among the payments whose deposit addresses got the
 * payer's transfers.
 */
export type ErasedTo = { readonly acceptedAt: Date; readonly key: ItemKey } | { readonly sentTo: string };

export interface ErasedPage {
  readonly paymentIds: readonly string[];
  /** The number of items and payments whose wallet name or icon was erased. */
  readonly erased: number;
  /** The row after which the next page begins. Undefined after the last page. */
  readonly next: ErasedTo | undefined;
}

/** The text that is stored for a wallet that reported no name. */
const NO_NAME = 'Wallet';

/**
 * Erases the name and the icon of a payer's wallet from items and payments, one page at a time. First come those that the payer signed,
 * then those whose deposit addresses received money from the payer.
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
  const isLater = after === undefined ? tx`true` : tx`(accepted_at, commitment) > (${after.acceptedAt}, ${after.key})`;
  const items = await tx<{ subject: string; acceptedAt: Date; key: ItemKey }[]>`
    select subject, accepted_at as "acceptedAt", commitment as key from items
    where network = ${payer.network} and payer = ${payer.address} and purpose = 'payment' and ${isLater}
    order by accepted_at, key limit ${limit}`;
  const paymentIds = [...new Set(items.map(({ subject }) => subject))];
  const keys = items.map(({ key }) => key);
  const erased = await eraseNames(tx, payer, { paymentIds, keys });
  return { paymentIds, erased, next: items.length < limit ? undefined : items.at(-1) };
}

async function eraseSent(
  tx: Tx,
  payer: PayerKey,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<ErasedPage> {
  const deposits = await tx<{ paymentId: string; keys: ItemKey[] }[]>`
    select d.payment_id as "paymentId", to_json(array_agg(d.item)) as keys
    from deposits d
    where d.payment_id > ${after} and d.commitment in (
      select t.commitment from movements t
      where t.network = ${payer.network} and ${addressKeySql(tx, payer.network, tx`t.sender`)} = ${addressKey(payer.network, payer.address)})
    group by d.payment_id order by d.payment_id limit ${limit}`;
  const paymentIds = deposits.map(({ paymentId }) => paymentId);
  const keys = deposits.flatMap((deposit) => deposit.keys);
  const erased = await eraseNames(tx, payer, { paymentIds, keys });
  const sentTo = paymentIds.at(-1);
  return { paymentIds, erased, next: deposits.length < limit || sentTo === undefined ? undefined : { sentTo } };
}

/**
 * Erases the wallet's name and icon from these items and payments. All nodes are notified, because they cache final payments. A page has
 * few enough ids for one notification. Sweeps have a name if an older version ordered them. Returns the number of changed items and
 * payments.
 */
async function eraseNames(
  tx: Tx,
  { network, address }: PayerKey,
  { paymentIds, keys }: { readonly paymentIds: readonly string[]; readonly keys: readonly ItemKey[] },
): Promise<number> {
  const { count: inItems } = await tx`
    update items set buyer_name = ${NO_NAME}, buyer_icon = null
    where (commitment = any(${keys as ItemKey[]}::text[])
        or subject = any(${paymentIds as string[]}::text[]) and purpose = 'sweep')
      and (buyer_name not in ('', ${NO_NAME}) or buyer_icon is not null)`;
  const { count: inPayments } = await tx`
    update payments set buyer_name = ${NO_NAME}, buyer_icon = null
    where id = any(${paymentIds as string[]}::text[]) and ${addressKeySql(tx, network, tx`buyer_account`)} = ${caipKey(`${network}:${address}`)}
      and (buyer_name <> ${NO_NAME} or buyer_icon is not null)`;
  if (inPayments > 0) await tx`select pg_notify(${EVENTS_CHANNEL}, ${paymentIds.join(',')})`;
  return inItems + inPayments;
}
