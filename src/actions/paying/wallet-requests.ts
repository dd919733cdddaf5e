import { familyOf } from '../../chains/families.ts';
import type { PayerSide, WalletAction } from '../../chains/payer-side.ts';
import type { Item } from '../../domain/item.ts';

/** A request to a wallet in the form that existing wallets read: `chain_id` is spelled like this on the wire. */
export interface WalletRpc {
  readonly chain_id: string;
  readonly method: WalletAction['method'];
  readonly params: readonly unknown[];
}

/** The actions of an option: the requests themselves, or the data to fetch them with. */
export type OptionAction =
  | { readonly type: 'walletRpc'; readonly data: WalletRpc }
  | { readonly type: 'build'; readonly data: { readonly data: string } };

/** The requests of an item, in the order in which the wallet executes them. */
export function walletRequests(payerSide: PayerSide, item: Item, allowance: bigint): readonly WalletRpc[] {
  return payerSide
    .walletActions(item, allowance)
    .map(({ method, params }) => ({ chain_id: item.network, method, params }));
}

/** The actions of an option in the list. `fetch` returns the requests that the list omits. */
export function listedActions(item: Item, requests: readonly WalletRpc[]): readonly OptionAction[] {
  if (familyOf(item.network).listsActions(item.method)) return requests.map((data) => ({ type: 'walletRpc', data }));
  return [{ type: 'build', data: { data: buildData(item, requests) } }];
}

/**
 * The data that the wallet sends to `fetch`. It contains the request of a signature, for wallets that read it themselves. It does not
 * contain an action in native coin, which must be stored here before the wallet sends it. It is never empty, because some clients treat
 * empty data as missing data and fetch nothing.
 */
export function buildData({ method, network }: Item, [request]: readonly WalletRpc[]): string {
  const content = method === 'native' ? { chain_id: network, isFetched: true } : request;
  return Buffer.from(JSON.stringify(content)).toString('hex');
}
