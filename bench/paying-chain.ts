import { fileURLToPath } from 'node:url';
import { SANDBOX_TOKENS } from '../src/sandbox/genesis.ts';
import { freePort, startProcess, stopProcess, until } from './processes.ts';

/** A local chain for both sides of a comparison. */
export interface PayingChain {
  readonly rpcUrl: string;
  readonly pid: number;
  request<T>(method: string, ...params: unknown[]): Promise<T>;
  /** Gives each account that much of the token. */
  fund(token: string, accounts: readonly string[], amount: bigint): Promise<void>;
  /** Puts a dollar at this address. */
  placeToken(address: string): Promise<void>;
  /** Replaces the last blocks by others. Their transactions are dropped or mined again. */
  reorg(depth: number, transactions: 'forgotten' | 'kept'): Promise<void>;
  mine(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** The chain, token and price of payments, unless a measurement has several chains. */
export const CHAIN_ID = 31337;
export const NETWORK = `eip155:${CHAIN_ID}`;
export const USDC = SANDBOX_TOKENS.USDC;
export const ASSET = `${NETWORK}/erc20:${USDC}`;
export const PRICE_UNITS = 10_000_000n;
export const FEE_UNITS = 100_000n;

const FILE = fileURLToPath(new URL('./paying-chain-server.ts', import.meta.url));

export async function startPayingChain({ chainId = CHAIN_ID, blockMs = 200 } = {}): Promise<PayingChain> {
  const port = await freePort();
  const child = startProcess([FILE], { PORT: String(port), CHAIN_ID: String(chainId), BLOCK_MS: String(blockMs) });
  const rpcUrl = `http://127.0.0.1:${port}`;

  async function post<T>(path: string, body: unknown): Promise<T> {
    const answer = await fetch(rpcUrl + path, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`The chain refused ${path}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  async function request<T>(method: string, ...params: unknown[]): Promise<T> {
    const answer = await post<{ result: T; error?: { message: string } }>('/', {
      jsonrpc: '2.0',
      id: 1,
      method,
      params,
    });
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  }

  const isUp = () => request<string>('eth_chainId').catch(() => undefined);
  await until('the chain is up', isUp, { withinMs: 30_000 });
  return {
    rpcUrl,
    pid: child.pid ?? 0,
    request,
    fund: (token, accounts, amount) => post('/fund', { token, accounts, amount: amount.toString() }),
    placeToken: (address) => post('/place-token', { address }),
    reorg: (depth, transactions) => post('/reorg', { depth, transactions }),
    mine: (count) => post('/mine', { count }),
    stop: () => stopProcess(child),
  };
}
