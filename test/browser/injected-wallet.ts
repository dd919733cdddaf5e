import type { BrowserContext } from 'playwright-core';
import type { TestWallet } from '../wallet-sdk/test-wallet.ts';

/** A request of the page, as its wallet gets it. */
export interface WalletCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The misbehaviour of a wallet for a request; undefined leaves the request to the wallet. */
export type Whim = (call: WalletCall) => unknown;

export interface InjectedWalletInput {
  readonly name?: string;
  readonly chainId?: string;
  readonly whim?: Whim;
}

/** The EIP-1193 code for a request that the user rejected. */
export const REJECTED = { failure: { code: 4001, message: 'User rejected the request.' } };
/** No answer at all. */
export const SILENCE = { isSilent: true };

let count = 0;

/**
 * Puts a wallet into every page of the context. It announces itself as wallets do (EIP-6963), is asked over EIP-1193, and
 * signs with the test wallet's key in this process. A whim may answer in its place.
 */
export async function injectWallet(context: BrowserContext, wallet: TestWallet, input: InjectedWalletInput = {}) {
  const { name = 'Test Wallet', whim = () => undefined } = input;
  count += 1;
  const bridge = `testWallet${count}`;
  const state = { chainId: input.chainId ?? `0x${Number(wallet.account.split(':')[1]).toString(16)}`, whim };
  const calls: WalletCall[] = [];

  await context.exposeFunction(bridge, async (method: string, params: readonly unknown[]) => {
    calls.push({ method, params });
    const odd = await state.whim({ method, params });
    if (odd !== undefined) return odd as object;
    try {
      return { result: await answer(wallet, state, { method, params }) };
    } catch (error) {
      const { code = -32603, message } = error as { code?: number; message: string };
      return { failure: { code, message } };
    }
  });
  await context.addInitScript(announce, {
    bridge,
    name,
    uuid: `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`,
  });
  return {
    /** All requests of the page so far. */
    calls,
    /** The number of requests that would have opened a window of the wallet. */
    prompts: () => calls.filter(({ method }) => PROMPTS.has(method)).map(({ method }) => method),
    setWhim(next: Whim) {
      state.whim = next;
    },
  };
}

const PROMPTS = new Set(['eth_signTypedData_v4', 'eth_sendTransaction', 'wallet_switchEthereumChain']);

async function answer(
  wallet: TestWallet,
  state: { chainId: string },
  { method, params }: WalletCall,
): Promise<unknown> {
  switch (method) {
    case 'eth_requestAccounts':
    case 'eth_accounts':
      return [wallet.address];
    case 'eth_chainId':
      return state.chainId;
    case 'wallet_switchEthereumChain':
      state.chainId = (params[0] as { chainId: string }).chainId;
      return null;
    case 'eth_signTypedData_v4':
    case 'eth_sendTransaction': {
      const request = { chainId: `eip155:${Number(state.chainId)}`, method, params: JSON.stringify(params) };
      return (await wallet.answerAll([request]))[0];
    }
    default:
      return wallet.reader.request({ method, params } as never);
  }
}

/** Runs in the page, before all other scripts. */
function announce({ bridge, name, uuid }: { bridge: string; name: string; uuid: string }): void {
  const page = globalThis as unknown as EventTarget & Record<string, (...input: unknown[]) => Promise<Answer>>;
  type Answer = { result?: unknown; failure?: { code: number; message: string }; isSilent?: true };
  const provider = {
    async request({ method, params = [] }: { method: string; params?: unknown[] }) {
      const { result, failure, isSilent } = (await page[bridge]?.(method, params)) ?? {};
      if (isSilent) await new Promise(() => {});
      if (failure !== undefined) throw Object.assign(new Error(failure.message), failure);
      return result;
    },
    on: () => provider,
    removeListener: () => provider,
  };
  const icon =
    'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8" fill="%23568"/></svg>';
  const info = Object.freeze({ uuid, name, icon, rdns: `test.${bridge}` });
  const announceProvider = () =>
    page.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }));
  page.addEventListener('eip6963:requestProvider', announceProvider);
  announceProvider();
}
