import { ChainUnavailableError } from '../chains/chain.ts';

/** The methods of the sandbox chain that a public node does not have. Only the gateway of the sandbox calls them. */
export interface ChainControl {
  /** Moves the chain's time that far ahead of the real time; never back. False if this chain has no such control. */
  moveAhead(aheadMs: number): Promise<boolean>;
  /**
   * Replaces the blocks from this one on by others with the same transactions. Nothing happens if that block is gone, so
   * a repeated order is harmless.
   */
  replaceBlocks(from: { readonly number: number; readonly hash: string }): Promise<boolean>;
}

const TIMEOUT_MS = 10_000;
const NO_SUCH_METHOD = -32601;

/** Controls the chain behind this URL. Another chain in its place, such as Anvil, has no such control. */
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
      // The error of fetch names the endpoint.
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
