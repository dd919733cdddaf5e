/** The sandbox chain, if it runs. The page then has its own wallet with play money. */
export interface Sandbox {
  /** The JSON-RPC path of the sandbox chain, on the page's origin. */
  readonly rpcPath: string;
  /** CAIP-2. */
  readonly chainId: string;
  /** The path of the pages about transactions: `<blockViewPath>/<hash>` shows one. */
  readonly blockViewPath: string;
}

/** The symbols of the coins that pay for gas, by network (CAIP-2). It has only networks on which a browser wallet can pay. */
export type Coins = Readonly<Record<string, string>>;

/** The address as an account on every network of the page. */
export function accountsOf(address: string, { coins }: { readonly coins: Coins }): readonly string[] {
  return Object.keys(coins).map((chainId) => `${chainId}:${address}`);
}

/** The network of a unit: `caip19/eip155:1/erc20:0x…` gives `eip155:1`. Undefined for a currency. */
export function chainOf(unit: string): string | undefined {
  return /^caip19\/([^/]+)\//.exec(unit)?.[1];
}

/** The gateway's path that redirects to the transaction in a block explorer. */
export function transactionPath(chainId: string | undefined, txId: string): string | null {
  return chainId === undefined || !/^[0-9A-Za-z]+$/.test(txId) ? null : `/tx/${chainId}/${txId}`;
}
