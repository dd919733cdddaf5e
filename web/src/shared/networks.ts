/** Set if the sandbox chain runs: the page then has its own wallet, with play money. */
export interface Sandbox {
  /** Same-origin JSON-RPC of the sandbox chain. */
  readonly rpcPath: string;
  /** CAIP-2. */
  readonly chainId: string;
  /** `<blockViewPath>/<hash>` shows a transaction. */
  readonly blockViewPath: string;
}

/**
 * The networks a wallet in the browser can pay on, each with its coin. A test compares them with the gateway's own
 * list.
 */
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

/** The address as an account on every network; the gateway ignores networks it does not use. */
export function accountsOf(address: string, sandbox: Sandbox | null): readonly string[] {
  const chains = new Set([...Object.keys(EVM_COINS), ...(sandbox === null ? [] : [sandbox.chainId])]);
  return [...chains].map((chainId) => `${chainId}:${address}`);
}

/** `caip19/eip155:1/erc20:0x…` → `eip155:1`; undefined for a currency. */
export function chainOf(unit: string): string | undefined {
  return /^caip19\/([^/]+)\//.exec(unit)?.[1];
}

/** The gateway's path that redirects to the block explorer of a transaction. */
export function transactionPath(chainId: string | undefined, txId: string): string | null {
  return chainId === undefined || !/^[0-9A-Za-z]+$/.test(txId) ? null : `/tx/${chainId}/${txId}`;
}
