/** Set if the sandbox chain runs. The page then has its own wallet with play money. */
export interface Sandbox {
  /** The JSON-RPC path of the sandbox chain, on the page's origin. */
  readonly rpcPath: string;
  /** CAIP-2. */
  readonly chainId: string;
  /** `<blockViewPath>/<hash>` shows a transaction. */
  readonly blockViewPath: string;
}

/** The networks on which a browser wallet can pay, with their coins. A test compares them with the gateway's list. */
export const EVM_COINS: Readonly<Record<string, string>> = {
  'eip155:1': 'ETH',
  'eip155:10': 'ETH',
  'eip155:56': 'BNB',
  'eip155:137': 'POL',
  'eip155:143': 'MON',
  'eip155:8453': 'ETH',
  'eip155:42161': 'ETH',
  'eip155:42220': 'CELO',
  'eip155:31337': 'ETH',
  'eip155:11155111': 'ETH',
  'eip155:11155420': 'ETH',
  'eip155:80002': 'POL',
  'eip155:84532': 'ETH',
  'eip155:421614': 'ETH',
};

/** The address as an account on every network. The gateway ignores networks that it does not use. */
export function accountsOf(address: string, sandbox: Sandbox | null): readonly string[] {
  const chains = new Set([...Object.keys(EVM_COINS), ...(sandbox === null ? [] : [sandbox.chainId])]);
  return [...chains].map((chainId) => `${chainId}:${address}`);
}

/** `caip19/eip155:1/erc20:0x…` gives `eip155:1`. Undefined for a currency. */
export function chainOf(unit: string): string | undefined {
  return /^caip19\/([^/]+)\//.exec(unit)?.[1];
}

/** The gateway's path that redirects to the transaction in a block explorer. */
export function transactionPath(chainId: string | undefined, txId: string): string | null {
  return chainId === undefined || !/^[0-9A-Za-z]+$/.test(txId) ? null : `/tx/${chainId}/${txId}`;
}
