import { keccak256, serializeTransaction, type TransactionSerializableEIP1559 } from 'viem';
import { type AuthorizedMethod, type Item, isAuthorized, ownPayment, type SignedItem } from '../../domain/item.ts';
import { SenderShortError } from '../chain-errors.ts';
import type { RefusalReason } from '../refusal-reason.ts';
import type { Bid, ItemOutcome, Sending, SignedTransaction, Simulation } from '../sender.ts';
import type { Signable } from '../signable.ts';
import type { Signer } from '../signer.ts';
import { isShort } from './broadcast.ts';
import {
  type Batch,
  batchGasLimit,
  decodeBatchOutcome,
  encodeBatch,
  encodeNativePayment,
  type ItemKind,
  maxItemsPerBatch,
  reasonOf,
} from './collector.ts';
import { dataGas } from './data-gas.ts';
import {
  AUTHORIZED_KEY_GAS,
  authorizedGasLimit,
  encodeAuthorizedSweep,
  encodeSweep,
  maxAuthorizedItems,
  maxItemsPerSweep,
  sweepGasLimit,
} from './deposits.ts';
import { type EthCall, ethCall, type Returned, unlessFaulty } from './eth-call.ts';
import { askingOnly, type EvmContext } from './evm-context.ts';
import { gatherAnswers } from './gather-answers.ts';
import { authorizationOf, collectorItem, depositTerms } from './item-terms.ts';
import type { RpcCall } from './json-rpc.ts';
import { readKeySignature } from './key-signature.ts';
import { feesOf } from './offer.ts';
import { type Hex, toQuantity } from './rpc-values.ts';
import { allowanceCall, balanceCall, coinBalanceCall, usedCall } from './token-calls.ts';

/**
 * The gas allowance of an item whose payer is a plain account. No code of the payer runs, so its use of gas is well known. A low
 * allowance lets a hundred items share a transaction.
 */
const KEY_ITEM_GAS: Readonly<Record<ItemKind, number>> = {
  'eip3009-vrs': 150_000,
  'eip3009-bytes': 150_000,
  permit2: 200_000,
};

export function maxBatchItems({ method }: Item): number {
  if (method === 'native') return 1;
  if (method === 'deposit') return maxItemsPerSweep();
  if (isAuthorized(method)) return maxAuthorizedItems();
  return maxItemsPerBatch(method, { allowance: KEY_ITEM_GAS[method] });
}

export async function simulate(
  context: EvmContext,
  batch: readonly SignedItem[],
  { isDoubted = false, ...how }: Simulation = {},
): Promise<readonly ItemOutcome[]> {
  const [first, second] = context.rpc.inOrder();
  if (!isDoubted || first === undefined || second === undefined) return simulateOnce(context, batch, how);
  const failures: unknown[] = [];
  const asked = [first, second].map((endpoint) =>
    simulateOnce(askingOnly(context, endpoint), batch, how).catch((error: unknown) => {
      failures.push(error);
      return undefined;
    }),
  );
  const answers = await gatherAnswers(context.world.timers, asked, (outcomes) =>
    outcomes.every(({ is }) => is === 'paid'),
  );
  if (answers.length === 0) throw failures[0];
  return batch.map((_, index) => {
    const outcomes = answers.flatMap((answer) => answer[index] ?? []);
    return outcomes.find(({ is }) => is === 'paid') ?? outcomes[0] ?? { is: 'refused', reason: 'unknown' };
  });
}

async function simulateOnce(
  context: EvmContext,
  batch: readonly SignedItem[],
  { as, atBlock }: Omit<Simulation, 'isDoubted'>,
): Promise<readonly ItemOutcome[]> {
  const { rpc } = context;
  const own = ownPayment(batch);
  if (own === undefined) {
    const { to, data, gas } = prepare(context, batch);
    const call = { ...sentAs(as), to, data, gas: Number(gas + (await dataGas(context, to, data))) };
    const outcomes = await rpc.call(simulationCall(batch, call, atBlock));
    if (outcomes === SENDER_SHORT) throw new SenderShortError(as?.from ?? 'the sender');
    return Promise.all(outcomes.map((outcome, index) => explain(context, outcome, batch[index], atBlock)));
  }
  // Some nodes do not check the balance of a simulated call's sender, so the payer's balance is read in addition.
  const balance = rpc.call(coinBalanceCall(own.payer, atBlock));
  const outcome = rpc.call(coinSimulationCall(own, sentAs(as), atBlock));
  const [has, would] = await Promise.all([balance, outcome]);
  return [has < own.amount ? SHORT : would];
}

/** Reasons of a refusal that do not show its cause. Balance, allowance and nonce must be read to find the cause. */
const VAGUE: readonly RefusalReason[] = ['out_of_gas', 'short_arrival', 'unknown'];

/**
 * Finds the reason of a refusal when the token gives none. Tether's token burns all gas when the balance is too low. Paxos's tokens
 * move nothing, without a revert, when an authorization was used before. Permit2 passes on no reason of the token.
 */
async function explain(
  { rpc, termsOf }: EvmContext,
  outcome: ItemOutcome,
  signed: SignedItem | undefined,
  atBlock?: number,
): Promise<ItemOutcome> {
  if (signed === undefined || outcome.is === 'paid' || !VAGUE.includes(outcome.reason)) return outcome;
  const { item, commitment } = signed;
  if (item.method === 'deposit') return outcome;
  const terms = termsOf(item.asset);
  const facts = await unlessFaulty(
    Promise.all([
      rpc.call(usedCall(item, terms, commitment, atBlock)),
      rpc.call(balanceCall(terms, item.payer, atBlock)),
      item.method === 'permit2' ? rpc.call(allowanceCall(terms, item.payer, atBlock)) : item.amount,
    ]),
  );
  if (facts === undefined) return outcome;
  const [isUsed, balance, allowance] = facts;
  if (isUsed) return { is: 'refused', reason: 'used' };
  if (balance < item.amount) return SHORT;
  return allowance < item.amount ? { is: 'refused', reason: 'short_allowance' } : outcome;
}

/** The simulation of a batch by a node. It returns the outcome of each item. */
function simulationCall(
  batch: readonly SignedItem[],
  call: EthCall,
  atBlock?: number,
): RpcCall<readonly ItemOutcome[] | typeof SENDER_SHORT> {
  const readOutcomes = (returned: Returned): readonly ItemOutcome[] => {
    // The revert of a whole batch gives no information about a single item.
    if ('reverted' in returned) return batch.map(() => ({ is: 'refused', reason: 'unknown' }));
    return decodeBatchOutcome(returned.data, batch.length).map((outcome) =>
      outcome.isCollected ? { is: 'paid' } : { is: 'refused', reason: reasonOf(outcome.reason) },
    );
  };
  const simulation = ethCall(call, readOutcomes, atBlock);
  return {
    ...simulation,
    // The revert is read first: its message may contain text of a hostile contract that looks like the node's own error.
    readError: (error) => simulation.readError?.(error) ?? (isShort(error) ? { value: SENDER_SHORT } : undefined),
  };
}

const SENDER_SHORT = Symbol('the sender is short');

/**
 * The sender and fees of a simulated call. They are equal to those of the planned transaction, so contracts cannot behave
 * differently in the simulation.
 */
function sentAs(as: Sending | undefined): Partial<EthCall> {
  if (as === undefined) return {};
  const { from, offer } = as;
  const fees = feesOf(offer);
  return { from, maxFeePerGas: toQuantity(fees.max), maxPriorityFeePerGas: toQuantity(fees.tip) };
}

export async function signBatch(
  context: EvmContext,
  signer: Signer,
  batch: readonly SignedItem[],
  bid: Bid,
): Promise<SignedTransaction> {
  const own = ownPayment(batch);
  if (own !== undefined) {
    if (own.payer !== signer.address) throw new TypeError('native coin is sent by its payer');
    const call = { to: own.collector as Hex, data: coinData(own), value: own.amount, gas: BigInt(COIN_GAS) };
    return sign(context, signer, bid, { ...call, items: [own] });
  }
  return sign(context, signer, bid, { ...prepare(context, batch), items: batch.map(({ item }) => item) });
}

/** The gas limit of a payment in coin. It is enough for a recipient contract that runs code when it is paid. */
const COIN_GAS = 300_000;

function coinData(item: Item): Hex {
  return encodeNativePayment({ ...collectorItem(item), feeAccount: item.feeAccount as Hex });
}

function coinSimulationCall(item: Item, as: Partial<EthCall>, atBlock?: number): RpcCall<ItemOutcome> {
  const call = { ...as, from: item.payer, to: item.collector, data: coinData(item), value: toQuantity(item.amount) };
  const simulation = ethCall(
    { ...call, gas: COIN_GAS },
    (returned): ItemOutcome =>
      'reverted' in returned ? { is: 'refused', reason: reasonOf(returned.reverted) } : { is: 'paid' },
    atBlock,
  );
  return { ...simulation, readError: (error) => (isShort(error) ? { value: SHORT } : simulation.readError?.(error)) };
}

const SHORT: ItemOutcome = { is: 'refused', reason: 'short_balance' };

/** Signs a transfer of zero coin from the signer to itself. Such a transaction only uses up its nonce. */
export async function signNothing(context: EvmContext, signer: Signer, bid: Bid): Promise<SignedTransaction> {
  return sign(context, signer, bid, { to: signer.address as Hex, gas: NOTHING_GAS });
}

const NOTHING_GAS = 21_000n;

interface Prepared {
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
}

/** The call of a batch. Simulation and transaction use the same call. */
function prepare(context: EvmContext, batch: readonly SignedItem[]): Prepared {
  const [first] = batch;
  if (first === undefined) throw new RangeError('a batch has items');
  const { method: kind, collector, asset, feeAccount } = first.item;
  if (kind === 'native') throw new TypeError('payers send native coin themselves');
  const shared = ['collector', 'asset', 'asked', 'method', 'feeAccount'] as const;
  if (batch.some(({ item }) => shared.some((field) => item[field] !== first.item[field]))) {
    throw new TypeError('the items of a batch share Collector, asset, method and fee account');
  }
  if (kind === 'deposit') return prepareSweep(context, batch);
  if (isAuthorized(kind)) return prepareAuthorized(kind, batch);
  const isOfKeys = batch.every(({ hasCode }) => !hasCode);
  const allowance = isOfKeys ? { allowance: KEY_ITEM_GAS[kind] } : {};
  const items: Batch['items'] = batch.map((signed) => ({
    ...collectorItem(signed.item),
    signature: signatureFor(signed),
  }));
  const to = collector as Hex;
  const data = encodeBatch({
    kind,
    token: context.termsOf(asset).token,
    feeAccount: feeAccount as Hex,
    items,
    ...allowance,
  });
  return { to, data, gas: BigInt(batchGasLimit(kind, batch.length, allowance)) };
}

/** The call that sweeps an asset from deposit addresses. */
function prepareSweep(context: EvmContext, batch: readonly SignedItem[]): Prepared {
  const [{ collector, asset } = { collector: '', asset: '' }] = batch.map(({ item }) => item);
  const { token } = context.termsOf(asset);
  const items = batch.map(({ item }) => depositTerms(item));
  return { to: collector as Hex, data: encodeSweep({ token, items }), gas: BigInt(sweepGasLimit({ items })) };
}

/** The call that presents authorizations of one asset to the token, and sweeps the deposit addresses that they fill. */
function prepareAuthorized(kind: AuthorizedMethod, batch: readonly SignedItem[]): Prepared {
  const [{ collector } = { collector: '' }] = batch.map(({ item }) => item);
  const isOfKeys = batch.every(({ hasCode }) => !hasCode);
  const allowance = isOfKeys ? { allowance: AUTHORIZED_KEY_GAS } : {};
  const items = batch.map((signed) => ({
    ...depositTerms(signed.item),
    ...authorizationOf(signed.item),
    signature: signatureFor(signed),
  }));
  const data = encodeAuthorizedSweep({ kind, items, ...allowance });
  return { to: collector as Hex, data, gas: BigInt(authorizedGasLimit(kind, batch.length, allowance.allowance)) };
}

/**
 * The signature in the form that is sent to the contracts. Tokens refuse `v` as 0 or 1, so a key's signature is normalized. A
 * wallet contract's signature stays unchanged.
 */
function signatureFor({ signature, hasCode }: SignedItem): Hex {
  return hasCode ? (signature as Hex) : (readKeySignature(signature)?.bytes ?? (signature as Hex));
}

interface Call {
  readonly to: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gas: bigint;
  /** The items that the call carries out. */
  readonly items?: readonly Item[];
}

export async function sign(
  context: EvmContext,
  signer: Signer,
  { slot: nonce, offer }: Bid,
  { to, data = '0x', value = 0n, gas: ownGas, items = [] }: Call,
): Promise<SignedTransaction> {
  const fees = feesOf(offer);
  const gas = ownGas + (await dataGas(context, to, data));
  const transaction: TransactionSerializableEIP1559 = {
    type: 'eip1559',
    chainId: context.chainId,
    nonce,
    to,
    data,
    value,
    gas,
    maxFeePerGas: fees.max,
    maxPriorityFeePerGas: fees.tip,
  };
  const content: Signable = {
    kind: 'transaction',
    network: context.network.chainId,
    transaction: {
      type: '0x2',
      chainId: toQuantity(context.chainId),
      nonce: toQuantity(nonce),
      to,
      value: toQuantity(value),
      data,
      gas: toQuantity(gas),
      maxFeePerGas: toQuantity(fees.max),
      maxPriorityFeePerGas: toQuantity(fees.tip),
    },
    items,
  };
  const { r, s, yParity } = await signer.sign(keccak256(serializeTransaction(transaction), 'bytes'), content);
  const bytes = serializeTransaction(transaction, { r: toWord(r), s: toWord(s), yParity });
  return { hash: keccak256(bytes), bytes, cost: gas * fees.max };
}

const toWord = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;
