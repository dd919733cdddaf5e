import type { Chain, WalletAction } from '../../chains/chain.ts';
import type { Item } from '../../domain/item.ts';
import type { Step } from '../../domain/option.ts';

/** A request to a wallet as the wallets in the field read it: `chain_id` is spelled like this on the wire. */
export interface WalletRpc {
  readonly chain_id: string;
  readonly method: WalletAction['method'];
  readonly params: readonly unknown[];
}

/** What an option tells the wallet to do: the requests themselves, or what it has to fetch them with. */
export type OptionAction =
  | { readonly type: 'walletRpc'; readonly data: WalletRpc }
  | { readonly type: 'build'; readonly data: { readonly data: string } };

/** The requests of an item, in the order the wallet carries them out. */
export function walletRequests(chain: Chain, item: Item, allowance: bigint): readonly WalletRpc[] {
  return chain.walletActions(item, allowance).map(({ method, params }) => ({ chain_id: item.network, method, params }));
}

/** What wallets expect in the list of options differs by method; `fetch` gives the requests where they are not in it. */
export function listedActions(item: Item, requests: readonly WalletRpc[]): readonly OptionAction[] {
  if (item.method === 'permit2') return requests.map((data) => ({ type: 'walletRpc', data }));
  return [{ type: 'build', data: { data: buildData(item, requests) } }];
}

/**
 * What the wallet sends to `fetch`. A signature's request is in it, for wallets that read it themselves. A native action
 * is not: it must not be carried out before it is known here.
 */
export function buildData({ method }: Item, [request]: readonly WalletRpc[]): string {
  return method === 'native' ? '' : Buffer.from(JSON.stringify(request)).toString('hex');
}

export function stepsOf(requests: readonly WalletRpc[]): readonly Step[] {
  return requests.map(({ method }) => (method === 'eth_sendTransaction' ? 'transaction' : 'signature'));
}
