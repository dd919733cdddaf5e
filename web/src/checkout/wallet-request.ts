import type { Provider } from './wallets.ts';

/**
 * The kinds of failure of a wallet request. After `silent`, the wallet may have executed the request. The last three are notices
 * about paired wallets.
 */
export type WalletFailure =
  | 'rejected'
  | 'pending'
  | 'unknown_chain'
  | 'silent'
  | 'error'
  | 'codeExpired'
  | 'relayAway'
  | 'networkNotShared';

export class WalletError extends Error {
  readonly why: WalletFailure;
  constructor(why: WalletFailure) {
    super(why);
    this.name = 'WalletError';
    this.why = why;
  }
}

/** The timeout of requests that the wallet answers by itself. Requests that the payer must answer have no timeout. */
export const QUICK_MS = 10_000;

/**
 * Sends a request to a wallet. The wallet may throw, reject with nonsense or never answer. The thrown `WalletError` names one of a
 * few kinds of failure.
 */
export async function askWallet(
  provider: Provider,
  method: string,
  params: readonly unknown[] = [],
  timeoutMs?: number,
): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const answer = Promise.resolve(provider.request({ method, params }));
    if (timeoutMs === undefined) return await answer;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new WalletError('silent')), timeoutMs);
    });
    return await Promise.race([answer, late]);
  } catch (error) {
    throw error instanceof WalletError ? error : new WalletError(failureOf(error));
  } finally {
    clearTimeout(timer);
  }
}

/** The kind of a failure, by the error codes of EIP-1193 and EIP-1474. Some wallets wrap the code in another error. */
function failureOf(error: unknown): WalletFailure {
  const { code, data } = Object(error) as { code?: unknown; data?: unknown };
  const { originalError } = Object(data) as { originalError?: unknown };
  const codes = [code, (Object(originalError) as { code?: unknown }).code];
  if (codes.includes(4001) || codes.includes('ACTION_REJECTED')) return 'rejected';
  if (codes.includes(-32002)) return 'pending';
  if (codes.includes(4902)) return 'unknown_chain';
  return 'error';
}

/** The first account of an answer, in lower case. Undefined if there is no valid account. */
export function accountIn(answer: unknown): string | undefined {
  return accountsIn(answer)[0];
}

export function accountsIn(answer: unknown): readonly string[] {
  if (!Array.isArray(answer)) return [];
  return answer.flatMap((account) =>
    /^0x[0-9a-f]{40}$/i.test(String(account)) ? [String(account).toLowerCase()] : [],
  );
}
