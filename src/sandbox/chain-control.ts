import { ChainUnavailableError } from '../chains/chain-errors.ts';

/** The sandbox chain's own RPC methods, which public nodes do not have. Only the sandbox's gateway calls them. */
export interface ChainControl {
  /** Moves the chain's time ahead of the real time by `aheadMs`, never back. False if the chain does not have the method. */
  moveAhead(aheadMs: number): Promise<boolean>;
  /**
   * Replaces this block and all later ones by others with the same transactions. Does nothing if the block no longer exists.
   * False if the chain does not have the method.
   */
  replaceBlocks(from: { readonly number: number; readonly hash: string }): Promise<boolean>;
}

const TIMEOUT_MS = 10_000;
const NO_SUCH_METHOD = -32601;

/** Controls the chain at this URL. Other chains, such as Anvil, do not have these methods. */
export function createChainControl(network: string, rpcUrl: string): ChainControl {
  async function call(method: string, params: readonly unknown[]): Promise<boolean> {
    let answer: { error?: { code: number; message: string } };
    try {
      const response = await fetch(rpcUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      answer = (await response.json()) as typeof answer;
    } catch {
      // The error of fetch is dropped, because it contains the URL.
      throw new ChainUnavailableError(network, `it did not answer ${method}`);
    }
    if (answer.error === undefined) return true;
    if (answer.error.code === NO_SUCH_METHOD) return false;
    throw new ChainUnavailableError(network, `it refused ${method}: ${answer.error.message}`);
  }
  return {
    moveAhead: (aheadMs) => call('till_moveAhead', [aheadMs]),
    replaceBlocks: ({ number, hash }) => call('till_replaceBlocks', [number, hash]),
  };
}
