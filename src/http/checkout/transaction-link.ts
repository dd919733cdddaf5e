import type { HttpDeps } from '../deps.ts';

/** 32 bytes in hex on EVM chains, a signature in base58 on Solana. */
const TRANSACTION_ID = /^(0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,90})$/;

/** The path that redirects to a transaction in an explorer. Null without an explorer. */
export function explorerPath(
  deps: Pick<HttpDeps, 'sandbox' | 'registry'>,
  chainId: string,
  txId: string,
): string | null {
  return transactionUrl(deps, chainId, txId) === undefined ? null : `/tx/${chainId}/${txId}`;
}

/** The URL of a transaction in the network's explorer, or in the sandbox's block pages. */
export function transactionUrl(
  { sandbox, registry }: Pick<HttpDeps, 'sandbox' | 'registry'>,
  chainId: string,
  txId: string,
): string | undefined {
  if (!TRANSACTION_ID.test(txId)) return undefined;
  if (chainId === sandbox?.chainId) return `/sandbox/tx/${txId}`;
  const explorer = registry.network(chainId)?.explorer;
  return explorer === undefined ? undefined : explorer + txId;
}
