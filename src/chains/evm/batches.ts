import { keccak256, serializeTransaction, type TransactionSerializableEIP1559 } from 'viem';
import type { Item, SignedItem } from '../../domain/item.ts';
import type { ItemOutcome, SignedTransaction, Signer, Slot } from '../chain.ts';
import {
  type Batch,
  batchGasLimit,
  COLLECTOR_ADDRESS,
  decodeBatchOutcome,
  encodeBatch,
  type ItemKind,
  maxItemsPerBatch,
  reasonOf,
} from './collector.ts';
import { dataGas } from './data-gas.ts';
import { ethCall, mapReturned } from './eth-call.ts';
import { collectorItem, type EvmContext } from './evm-context.ts';
import type { RpcCall } from './json-rpc.ts';
import { readKeySignature } from './key-signature.ts';
import type { Hex } from './rpc-values.ts';

/**
 * What an item of a plain account may use. It is known to within a little, as no code of the payer's runs; keeping it low is
 * what lets a hundred of them share a transaction.
 */
const KEY_ITEM_GAS: Readonly<Record<ItemKind, number>> = {
  'eip3009-vrs': 150_000,
  'eip3009-bytes': 150_000,
  permit2: 200_000,
};

export function maxBatchItems({ method }: Item): number {
  return method === 'native' ? 1 : maxItemsPerBatch(method, { allowance: KEY_ITEM_GAS[method] });
}

/** Asks a node what would become of each item. */
export function simulationCall(
  context: EvmContext,
  batch: readonly SignedItem[],
  atBlock?: number,
): RpcCall<readonly ItemOutcome[]> {
  const { data, gasLimit } = prepare(context, batch);
  return mapReturned(ethCall({ to: COLLECTOR_ADDRESS, data, gas: gasLimit }, atBlock), (returned) => {
    // A batch that reverts as a whole says nothing about any one of its items.
    if ('reverted' in returned) return batch.map(() => ({ is: 'refused', reason: 'unknown' }) as const);
    return decodeBatchOutcome(returned.data, batch.length).map((outcome) =>
      outcome.isCollected ? { is: 'paid' } : { is: 'refused', reason: reasonOf(outcome.reason) },
    );
  });
}

export async function signBatch(
  context: EvmContext,
  signer: Signer,
  batch: readonly SignedItem[],
  slot: Slot,
): Promise<SignedTransaction> {
  const { data, gasLimit } = prepare(context, batch);
  return sign(context, signer, slot, { to: COLLECTOR_ADDRESS, data, gas: BigInt(gasLimit) });
}

/** A transfer of nothing to oneself. */
export async function signNothing(context: EvmContext, signer: Signer, slot: Slot): Promise<SignedTransaction> {
  return sign(context, signer, slot, { to: signer.address as Hex, gas: NOTHING_GAS });
}

const NOTHING_GAS = 21_000n;

function prepare(context: EvmContext, batch: readonly SignedItem[]): { data: Hex; gasLimit: number } {
  const [first] = batch;
  if (first === undefined) throw new RangeError('a batch has items');
  const { method: kind, asset, feeAccount } = first.item;
  if (kind === 'native') throw new TypeError('payers send native coin themselves');
  if (batch.some(({ item }) => item.method !== kind || item.asset !== asset || item.feeAccount !== feeAccount)) {
    throw new TypeError('the items of a batch share asset, method and fee account');
  }
  const isOfKeys = batch.every(({ hasCode }) => !hasCode);
  const allowance = isOfKeys ? { allowance: KEY_ITEM_GAS[kind] } : {};
  const items: Batch['items'] = batch.map(({ item, signature, hasCode }) => ({
    ...collectorItem(item),
    // A wallet's `v` may count from 0, which tokens do not take; a contract's signature is its own business.
    signature: hasCode ? (signature as Hex) : (readKeySignature(signature)?.bytes ?? (signature as Hex)),
  }));
  return {
    data: encodeBatch({
      kind,
      token: context.termsOf(asset).token,
      feeAccount: feeAccount as Hex,
      items,
      ...allowance,
    }),
    gasLimit: batchGasLimit(kind, batch.length, allowance),
  };
}

export async function sign(
  context: EvmContext,
  signer: Signer,
  { nonce, fees }: Slot,
  { to, data = '0x', gas: ownGas }: { readonly to: Hex; readonly data?: Hex; readonly gas: bigint },
): Promise<SignedTransaction> {
  const gas = ownGas + (await dataGas(context, to, data));
  const transaction: TransactionSerializableEIP1559 = {
    type: 'eip1559',
    chainId: context.chainId,
    nonce,
    to,
    data,
    gas,
    maxFeePerGas: fees.max,
    maxPriorityFeePerGas: fees.tip,
  };
  const { r, s, yParity } = await signer.sign(keccak256(serializeTransaction(transaction), 'bytes'));
  const bytes = serializeTransaction(transaction, { r: toWord(r), s: toWord(s), yParity });
  return { hash: keccak256(bytes), bytes, gasLimit: gas };
}

const toWord = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;
