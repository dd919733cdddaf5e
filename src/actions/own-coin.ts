import type { Chain } from '../chains/chain.ts';
import type { SignedItem } from '../domain/item.ts';
import { isRowMac, macOfRow } from '../domain/row-mac.ts';
import type { RowKeyDeps } from './row-keys.ts';

const PURPOSE = 'own coin';

/**
 * The consent of the gateway to send coin of its own account. Such an item needs no signature on the chain, because the
 * account sends the transaction itself. The consent takes its place in the row: an item that somebody else has put into
 * the database has none.
 */
export function consentToSend({ rowKeys }: RowKeyDeps, commitment: string): string {
  return macOfRow(rowKeys, PURPOSE, { commitment });
}

/** True if the item may be sent: a payer or an account of ours has signed it, or the gateway has consented to it. */
export function maySend({ rowKeys }: RowKeyDeps, chain: Chain, { item, commitment, signature }: SignedItem): boolean {
  if (item.method !== 'native') return true;
  return chain.commitmentOf(item) === commitment && isRowMac(rowKeys, PURPOSE, { commitment }, signature);
}
