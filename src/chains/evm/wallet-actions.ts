import type { Item } from '../../domain/item.ts';
import type { Step } from '../../domain/option.ts';
import type { PayTerms } from '../network.ts';
import type { WalletAction } from '../payer-side.ts';
import { encodeNativePayment, PERMIT2_ADDRESS } from './collector.ts';
import type { AssetTerms } from './evm-context.ts';
import { collectorItem } from './item-terms.ts';
import { type Hex, toQuantity } from './rpc-values.ts';
import { authorizationText, permitText } from './typed-data.ts';
import { address, functionCall, uint } from './words.ts';

const MAX_ALLOWANCE = 2n ** 256n - 1n;
const approve = functionCall('approve(address,uint256)');

/**
 * The requests to the payer's wallet, in a form that all wallets in use accept: addresses in lower case, integers in hex, typed
 * data as a string, and transactions without nonce, gas or chain id, which the wallet chooses.
 */
export function walletActions(
  item: Item,
  terms: AssetTerms,
  chainId: number,
  commitment: string,
  allowance: bigint,
): readonly WalletAction[] {
  const { token, pay } = terms;
  if (pay.method === 'native') return [nativePayment(item)];
  const signing = signature(item, typedDataText(item, terms, chainId, commitment));
  return [...approvalsOf(pay, item.amount, allowance).map((amount) => approval(item, token, amount)), signing];
}

/** The steps of the wallet: one for each action that `walletActions` returns. */
export function walletSteps({ pay }: AssetTerms, amount: bigint, allowance: bigint): readonly Step[] {
  if (pay.method === 'native') return ['transaction'];
  return [...approvalsOf(pay, amount, allowance).map(() => 'transaction' as const), 'signature'];
}

/** The amounts that the wallet approves for Permit2 before it signs, in order. */
function approvalsOf(pay: PayTerms, amount: bigint, allowance: bigint): readonly bigint[] {
  if (pay.method !== 'permit2' || allowance >= amount) return [];
  return pay.approvesThroughZero && allowance > 0n ? [0n, MAX_ALLOWANCE] : [MAX_ALLOWANCE];
}

/** The typed data that the payer of a token signs, as JSON text. */
export function typedDataText(item: Item, { token, pay }: AssetTerms, chainId: number, commitment: string): string {
  if (pay.method === 'native') throw new TypeError('native coin is not paid by a signature');
  return pay.method === 'permit2'
    ? permitText(item, token, chainId, commitment)
    : authorizationText(item, token, { ...pay.domain, contract: token }, chainId, commitment);
}

function signature(item: Item, text: string): WalletAction {
  return { method: 'eth_signTypedData_v4', params: [item.payer.toLowerCase(), text] };
}

/** The approval of Permit2. An unlimited amount is safe, because Permit2 moves nothing without a signature. */
function approval(item: Item, token: Hex, amount: bigint): WalletAction {
  const data = approve(address(PERMIT2_ADDRESS), uint(amount));
  return { method: 'eth_sendTransaction', params: [{ from: item.payer.toLowerCase(), to: token, data }] };
}

function nativePayment(item: Item): WalletAction {
  return { method: 'eth_sendTransaction', params: [coinTransaction(item)] };
}

/** The payer's own transaction, without the fields that the wallet chooses. Addresses are in lower case. */
export function coinTransaction(item: Item): { from: string; to: string; value: Hex; data: Hex } {
  const data = encodeNativePayment({ ...collectorItem(item), feeAccount: item.feeAccount as Hex });
  return {
    from: item.payer.toLowerCase(),
    to: item.collector.toLowerCase(),
    value: toQuantity(item.amount),
    data,
  };
}
