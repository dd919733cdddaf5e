import { pause } from '../shared/backoff.ts';
import { formatEstimate } from '../shared/money.ts';
import { accountsOf } from '../shared/networks.ts';
import type { GatewayOption, WalletRpc } from './api.ts';
import type { CheckoutContext } from './checkout-context.ts';
import { type Choice, needsSetup } from './flow-state.ts';
import { PayError } from './pay.ts';
import { isOnChain, outcomeOf } from './perform-actions.ts';
import { askWallet, QUICK_MS } from './wallet-request.ts';
import type { Provider, Wallet } from './wallets.ts';

/**
 * Estimates the cost of a token's one-time approval, and dispatches it. This module is loaded on demand, because most payments need
 * no approval.
 */
export async function estimateSetup(
  { page, dispatch }: CheckoutContext,
  { provider }: Wallet,
  { actions: [action] }: GatewayOption,
  signal: AbortSignal,
): Promise<void> {
  if (action?.type !== 'walletRpc') return;
  const cost = await setupCost(provider, action.data);
  const coin = page.coins[action.data.chain_id];
  if (cost === null || coin === undefined || signal.aborted) return;
  dispatch({ type: 'setup_cost', cost: formatEstimate(cost, 18, coin, page) });
}

interface Mining {
  readonly provider: Provider;
  readonly action: WalletRpc;
  readonly txId: string;
  /** Asks the gateway whether the allowance is set. Given for wallets that do not answer requests to read the chain. */
  readonly isPermitted?: (() => Promise<boolean>) | undefined;
  readonly signal: AbortSignal;
}

const POLL_MS = 1_500;
/** The maximum number of polls, which take a quarter of an hour. By then the payment has expired, or the payer has noticed the problem. */
const MAX_POLLS = 600;

/**
 * Waits until the approval is mined or the allowance is set. Asking for the receipt alone is not enough: a wallet that speeds up a
 * transaction replaces it by one with another hash.
 */
export async function untilMined({ provider, action, txId, isPermitted, signal }: Mining): Promise<void> {
  for (let poll = 0; poll < MAX_POLLS && !signal.aborted; poll += 1) {
    const outcome = await outcomeOf(provider, txId);
    if (outcome === 'reverted') throw new PayError('setupFailed');
    if (outcome === 'mined' || (await (isPermitted?.() ?? isAllowed(provider, action.params[0])))) return;
    await pause(POLL_MS, signal);
  }
  signal.throwIfAborted();
  throw new PayError('setupFailed');
}

/** True if the gateway now offers the token without an approval. */
export async function isSetUp(
  { page, gateway }: CheckoutContext,
  { option, session }: Choice,
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await gateway.options(accountsOf(session.account, page), signal);
  if (answer.is !== 'ok') return false;
  return answer.value.options.some((each) => each.amount.unit === option.amount.unit && !needsSetup(each));
}

/** True if the allowance on the chain is the value of the `approve` call. */
async function isAllowed(provider: Provider, transaction: unknown): Promise<boolean> {
  const { from, to, data } = Object(transaction) as Record<string, unknown>;
  const call = /^0x095ea7b3([0-9a-f]{64})([0-9a-f]{64})$/i.exec(String(data));
  if (call === null) return false;
  const owner = String(from).slice(2).toLowerCase().padStart(64, '0');
  try {
    const allowance = await askWallet(
      provider,
      'eth_call',
      [{ to, data: `0xdd62ed3e${owner}${call[1]}` }, 'latest'],
      QUICK_MS,
    );
    return BigInt(allowance as string) === BigInt(`0x${call[2]}`);
  } catch {
    return false;
  }
}

/** The approximate cost of the approval in the coin's smallest unit. Null if the wallet does not answer or is on another network. */
async function setupCost(provider: Provider, { chain_id, params }: WalletRpc): Promise<bigint | null> {
  try {
    const wanted = `0x${BigInt(chain_id.slice('eip155:'.length)).toString(16)}`;
    if (!(await isOnChain(provider, wanted))) return null;
    const [gas, price] = await Promise.all([
      askWallet(provider, 'eth_estimateGas', params, QUICK_MS),
      askWallet(provider, 'eth_gasPrice', [], QUICK_MS),
    ]);
    const cost = BigInt(gas as string) * BigInt(price as string);
    return cost > 0n ? cost : null;
  } catch {
    return null;
  }
}
