import type { Sandbox } from '../shared/networks.ts';
import type { WalletRpc } from './api.ts';
import type { Ask } from './flow-state.ts';
import { noticeOf, PayError } from './pay.ts';
import { accountsIn, askWallet, QUICK_MS, WalletError } from './wallet-request.ts';
import type { Provider } from './wallets.ts';

export interface PayInput {
  readonly provider: Provider;
  /** The address of the payer's account, in lower case. */
  readonly account: string;
  readonly actions: readonly WalletRpc[];
  readonly sandbox: Sandbox | null;
  readonly onAsk: (ask: Ask) => void;
  readonly onSetupSent: (txId: string) => void;
  /** Waits until a transaction that prepares the payment, such as an approval, is mined. */
  readonly untilMined: (action: WalletRpc, txId: string) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Lets the wallet execute an option's actions in order, and returns its answers. A transaction such as an approval must be mined
 * before the next action: until then the gateway would refuse the signature.
 */
export async function performActions(input: PayInput): Promise<readonly string[]> {
  const { provider, account, actions, onAsk, onSetupSent, signal } = input;
  const results: string[] = [];
  for (const [index, action] of actions.entries()) {
    const isLast = index === actions.length - 1;
    await ensureAccount(provider, account);
    await ensureChain(input, action.chain_id);
    signal.throwIfAborted();
    onAsk(askOf(action, isLast));
    const result = readResult(action, await prompt(provider, action.method, action.params));
    results.push(result);
    if (isLast || action.method !== 'eth_sendTransaction') continue;
    onSetupSent(result);
    await input.untilMined(action, result);
  }
  return results;
}

function askOf({ method }: WalletRpc, isLast: boolean): Ask {
  if (method !== 'eth_sendTransaction') return 'sign';
  return isLast ? 'send' : 'approve';
}

async function ensureAccount(provider: Provider, account: string): Promise<void> {
  const accounts = accountsIn(await quick(provider, 'eth_accounts'));
  if (accounts.length === 0) throw new PayError('walletLocked');
  if (!accounts.includes(account)) throw new PayError('wrongAccount');
}

/**
 * Switches the wallet to the chain of an action. Some wallets confirm a switch without switching, so the chain id is read again
 * afterwards.
 */
async function ensureChain({ provider, sandbox, onAsk, signal }: PayInput, chainId: string): Promise<void> {
  const wanted = `0x${BigInt(chainId.slice('eip155:'.length)).toString(16)}`;
  if (await isOnChain(provider, wanted)) return;
  signal.throwIfAborted();
  onAsk('switch');
  try {
    await askWallet(provider, 'wallet_switchEthereumChain', [{ chainId: wanted }]);
  } catch (error) {
    const why = error instanceof WalletError ? error.why : 'error';
    if (why === 'pending' || why === 'networkNotShared') throw new PayError(noticeOf(error));
    // Only the sandbox chain can be added to a wallet, because the page knows the RPC endpoint of no other chain.
    if (why === 'rejected' || sandbox?.chainId !== chainId) throw new PayError('wrongChain');
    await addSandboxChain(provider, wanted, sandbox);
  }
  if (!(await isOnChain(provider, wanted))) throw new PayError('wrongChain');
}

async function addSandboxChain(provider: Provider, chainId: string, { rpcPath }: Sandbox): Promise<void> {
  const chain = {
    chainId,
    chainName: 'Till Sandbox',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: [new URL(rpcPath, location.href).href],
  };
  try {
    await askWallet(provider, 'wallet_addEthereumChain', [chain]);
  } catch {
    throw new PayError('wrongChain');
  }
}

function readResult({ method }: WalletRpc, answer: unknown): string {
  const form = method === 'eth_sendTransaction' ? /^0x[0-9a-f]{64}$/i : /^0x(?:[0-9a-f]{2}){1,8192}$/i;
  if (typeof answer !== 'string' || !form.test(answer)) throw new PayError('walletNonsense');
  return answer;
}

async function prompt(provider: Provider, method: string, params: readonly unknown[]): Promise<unknown> {
  try {
    return await askWallet(provider, method, params);
  } catch (error) {
    const isUnknown = method === 'eth_sendTransaction' && error instanceof WalletError && error.why === 'silent';
    throw new PayError(isUnknown ? 'maybePending' : noticeOf(error));
  }
}

export async function isOnChain(provider: Provider, wanted: string): Promise<boolean> {
  const chainId = await quick(provider, 'eth_chainId');
  try {
    return BigInt(chainId as string | number) === BigInt(wanted);
  } catch {
    throw new PayError('walletNonsense');
  }
}

/** The state of a transaction according to the wallet's node. `unknown` does not mean that the transaction failed. */
export async function outcomeOf(provider: Provider, txId: string): Promise<'mined' | 'reverted' | 'unknown'> {
  try {
    const receipt = await askWallet(provider, 'eth_getTransactionReceipt', [txId], QUICK_MS);
    const { status } = Object(receipt) as { status?: unknown };
    if (status === undefined) return 'unknown';
    return BigInt(status as string) === 1n ? 'mined' : 'reverted';
  } catch {
    return 'unknown';
  }
}

async function quick(provider: Provider, method: string): Promise<unknown> {
  try {
    return await askWallet(provider, method, [], QUICK_MS);
  } catch (error) {
    throw new PayError(noticeOf(error));
  }
}
