import { setTimeout as pause } from 'node:timers/promises';
import { encodeFunctionData, type Hex, keccak256, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { SANDBOX_KEYS, SANDBOX_TOKENS } from '../../src/sandbox/genesis.ts';

const ABI = parseAbi(['function transfer(address to, uint256 value)']);
const CHAIN_ID = 31_337;
const GAS = 200_000n;
const FEES = { maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
const ASK_EVERY_MS = 50;
const WITHIN_MS = 90_000;

export type PayerWallet = ReturnType<typeof openPayerWallet>;

/** Plain transfers of the payer's tokens, one after the other, as from a wallet that knows nothing of the gateway. */
export function openPayerWallet(rpcUrl: () => string) {
  const account = privateKeyToAccount(SANDBOX_KEYS.payer);
  let queue: Promise<unknown> = Promise.resolve();

  /** Undefined if the chain does not answer, or answers with an error. */
  async function call<T>(method: string, ...params: readonly unknown[]): Promise<T | undefined> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'Content-Type': 'application/json' };
    try {
      const answer = await fetch(rpcUrl(), { method: 'POST', headers, body, signal: AbortSignal.timeout(2_000) });
      const { result } = (await answer.json()) as { result?: T };
      return result ?? undefined;
    } catch {
      return undefined;
    }
  }

  async function untilAnswered<T>(ask: () => Promise<T | undefined>): Promise<T> {
    for (const endMs = performance.now() + WITHIN_MS; performance.now() < endMs; ) {
      const answer = await ask();
      if (answer !== undefined) return answer;
      await pause(ASK_EVERY_MS);
    }
    throw new Error('The chain has not carried out a transfer of the payer.');
  }

  /** The same bytes are sent until they are mined, so a transfer is made once. */
  async function send(to: string, units: bigint): Promise<void> {
    const data = encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [to as Hex, units] });
    const count = await untilAnswered(() => call<Hex>('eth_getTransactionCount', account.address, 'latest'));
    const bytes = await account.signTransaction({
      ...FEES,
      type: 'eip1559',
      chainId: CHAIN_ID,
      nonce: Number(count),
      to: SANDBOX_TOKENS.USDC,
      data,
      gas: GAS,
    });
    await untilAnswered(async () => {
      await call('eth_sendRawTransaction', bytes);
      return call<object>('eth_getTransactionReceipt', keccak256(bytes));
    });
  }

  return {
    transfer(to: string, units: bigint): Promise<void> {
      const sent = queue.then(() => send(to, units));
      queue = sent.catch(() => {});
      return sent;
    },
  };
}
