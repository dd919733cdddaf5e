import type { PayerSide } from '../chains/payer-side.ts';
import type { SignedItem } from '../domain/item.ts';
import { isRowMac, macOfRow } from '../domain/row-mac.ts';
import type { RowKeyDeps } from './row-keys.ts';

const PURPOSE = 'own coin';

/**
 * The gateway's consent to send native coin from its own account. Such an item needs no signature on the chain, because the account
 * itself sends the transaction. The row stores this MAC instead of a signature, so an item that somebody else inserted into the
 * database cannot be sent.
 */
export function consentToSend({ rowKeys }: RowKeyDeps, commitment: string): string {
  return macOfRow(rowKeys, PURPOSE, { commitment });
}

/**
 * True if the relayer may send the item. Native coin needs the consent of the gateway, which is checked here. The chain checks the
 * signatures of all other items.
 */
export function maySend(
  { rowKeys }: RowKeyDeps,
  payerSide: PayerSide,
  { item, commitment, signature }: SignedItem,
): boolean {
  if (item.method !== 'native') return true;
  return payerSide.commitmentOf(item) === commitment && isRowMac(rowKeys, PURPOSE, { commitment }, signature);
}
