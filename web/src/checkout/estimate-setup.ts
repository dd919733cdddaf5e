import { formatEstimate } from '../shared/money.ts';
import { EVM_COINS } from '../shared/networks.ts';
import type { GatewayOption, WalletRpc } from './api.ts';
import type { CheckoutContext } from './checkout-context.ts';
import { isOnChain } from './pay.ts';
import { askWallet, QUICK_MS } from './wallet-request.ts';
import type { Provider, Wallet } from './wallets.ts';

/** Shows the cost of a one-time set-up. Loaded on demand. */
export async function estimateSetup(
  { page, dispatch }: CheckoutContext,
  { provider }: Wallet,
  { actions: [action] }: GatewayOption,
  signal: AbortSignal,
): Promise<void> {
  if (action?.type !== 'walletRpc') return;
  const cost = await setupCost(provider, action.data);
  const coin = EVM_COINS[action.data.chain_id];
  if (cost === null || coin === undefined || signal.aborted) return;
  dispatch({ type: 'setup_cost', cost: formatEstimate(cost, 18, coin, page) });
}

/** The approximate cost of the setup, in the smallest unit of the coin; null when the wallet gives no answer. */
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
