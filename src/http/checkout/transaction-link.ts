import { parseTransactionId } from '../../domain/addresses/families.ts';
import type { HttpDeps } from '../deps.ts';

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
  if (parseTransactionId(chainId, txId) === undefined) return undefined;
  if (chainId === sandbox?.chainId) return `/sandbox/tx/${txId}`;
  const explorer = registry.network(chainId)?.explorer;
  return explorer === undefined ? undefined : explorer + txId;
}
