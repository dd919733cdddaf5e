import type { ConnectedChain } from '../../../chains/chains.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { findItemsOfEvents } from '../../../store/chain/items.ts';
import type { Reader } from '../../../store/plumbing/database.ts';
import { askReceipt } from '../../evidence.ts';
import { ownAccounts } from '../../own-accounts.ts';
import type { RowKeyDeps } from '../../row-keys.ts';
import { hasOwnSeal, type PaidEvent, type SweptEvent } from '../audit/paid-event.ts';

export const UNOPENED =
  'has a seal that no known key opens, as items of ours have whose master secret was replaced. Bring its key back by till secret import, or name the older secret in TILL_SECRET, and rebuild again';

/**
 * True if the event may belong to one of our items, sealed with a key that this node does not have: its seal cannot be opened,
 * and its fee goes to our account.
 */
export function isUnopened({ chain, feeAccount }: ConnectedChain, event: PaidEvent | SweptEvent): boolean {
  const account = event.terms?.feeAccount ?? '';
  return hasOwnSeal(event) === false && isSameAddress(chain.network.chainId, account, feeAccount);
}

/**
 * Returns those of the unopened events that have no stored item, if an account of ours sent the transaction of one of them. Our accounts
 * send only our items, so a key is missing, and all these events may belong to our payments. If none of our accounts sent such a
 * transaction, all the events are items of strangers, and the result is empty.
 */
export async function lostSeals<Event extends PaidEvent | SweptEvent>(
  deps: RowKeyDeps & { readonly db: { readonly sql: Reader } },
  connected: ConnectedChain,
  unopened: readonly Event[],
): Promise<readonly Event[]> {
  if (unopened.length === 0) return [];
  const { chain } = connected;
  const commitments = [...new Set(unopened.map(({ commitment }) => commitment))];
  const items = await findItemsOfEvents(deps.db.sql, chain.network.chainId, commitments);
  const known = new Set(items.map(({ commitment }) => commitment));
  const unknown = unopened.filter(({ commitment }) => !known.has(commitment));
  const own = await ownAccounts(deps, connected);
  for (const hash of new Set(unknown.map(({ transactionHash }) => transactionHash))) {
    const receipt = await askReceipt(chain.reader, hash);
    if (receipt !== undefined && own.some((account) => isSameAddress(chain.network.chainId, account, receipt.from)))
      return unknown;
  }
  return [];
}
