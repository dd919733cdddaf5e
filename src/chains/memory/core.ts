import { isByDeposit, ownPayment, type SignedItem } from '../../domain/item.ts';
import type { World } from '../../runtime/world.ts';
import { maxBatchItems } from '../evm/batches.ts';
import { COLLECTOR_ADDRESS } from '../evm/collector.ts';
import { methodIn, nonceSpaceOf, shownSubject } from '../evm/item-terms.ts';
import type { Network } from '../network.ts';
import type { BroadcastOutcome } from '../sender.ts';
import { type Blocks, createBlocks, type EventBody, type Receipt } from './blocks.ts';
import { createEvmRules, type EvmRules } from './evm-rules.ts';
import { createFaults, type Faults } from './faults.ts';
import { COIN, type Code, collect, keys, type Ledger, type Log, payCoin, Refusal } from './ledger.ts';
import { createMempool, type Mempool } from './mempool.ts';
import { createHistory, type History, type State } from './state.ts';
import { sweep } from './sweep.ts';
import { honestTestimony, type Testimony } from './testimony.ts';
import { coinIn, type Draft, type Transaction } from './transactions.ts';

export interface MemoryChainOptions {
  readonly network: Network;
  /** The clock for block times. Without a clock, each block adds the network's block time. */
  readonly world?: Pick<World, 'clock'>;
  /** True if every accepted transaction is mined at once. The default is true. */
  readonly isAutoMining?: boolean;
  /** The time of block 0 in Unix seconds. The default is the clock's time, or the beginning of 2026 without a clock. */
  readonly genesisS?: number;
  /** The number of endpoints. The default is 1. */
  readonly witnesses?: number;
}

/** The state of the chain. The port reads this state, and the control of the test script changes it. */
export interface Core {
  readonly network: Network;
  readonly rules: EvmRules;
  readonly history: History;
  readonly blocks: Blocks;
  readonly mempool: Mempool;
  readonly faults: Faults;
  /** The code of accounts, by lower-case address. */
  readonly codes: Map<string, Code>;
  readonly market: { base: bigint; tip: bigint };
  readonly settings: { isAutoMining: boolean; revertingBatches: number };
  /** Transactions that were accepted and are not visible yet. */
  readonly held: Transaction[];
  /** The lies of each endpoint when it is asked as a witness. */
  readonly testimonies: readonly Testimony[];
  /** The problems that `check` reports, by asset. */
  readonly problems: Map<string, string>;
  ledger(state: State, timestampS: number): Ledger;
  /** The timestamp of a block mined now. */
  nextTimestampS(): number;
  mine(timestampS?: number): void;
  /** Offers a transaction to the mempool, and mines it at once if automatic mining is on. */
  submit(transaction: Transaction): BroadcastOutcome;
}

const DEFAULT_GENESIS_S = Date.UTC(2026, 0, 1) / 1000;

const NOTHING_GAS = 21_000n;
/** The gas of an item, as measured with the real Collector. */
const ITEM_GAS = 56_000n;
const BATCH_GAS = 40_000n;

/** The highest gas limit of a transaction (EIP-7825). A full batch uses all of it. */
const TRANSACTION_GAS_CAP = 2n ** 24n;

export function gasLimitOf(payload: Draft['payload']): bigint {
  if (payload.kind === 'nothing') return NOTHING_GAS;
  if (ownPayment(payload.batch) !== undefined) return ITEM_GAS;
  const { item } = checkBatch(payload.batch);
  return (TRANSACTION_GAS_CAP / BigInt(maxBatchItems(item))) * BigInt(payload.batch.length);
}

/** Checks a batch and returns its first item. Throws for items that cannot share a transaction, which is a bug of the caller. */
export function checkBatch(batch: readonly SignedItem[]): SignedItem {
  const [first] = batch;
  if (first === undefined || first.item.method === 'native') throw new TypeError('A batch has items, and none in coin');
  const shared = ['collector', 'asset', 'asked', 'method', 'feeAccount'] as const;
  if (batch.some(({ item }) => shared.some((field) => item[field] !== first.item[field]))) {
    throw new TypeError('The items of a batch share Collector, asset, method and fee account');
  }
  return first;
}

export function createCore(options: MemoryChainOptions): Core {
  const { network, world, isAutoMining = true, genesisS, witnesses = 1 } = options;
  const rules = createEvmRules(network);
  const history = createHistory();
  const codes = new Map<string, Code>();
  const market = { base: 1_000_000_000n, tip: 1_000_000_000n };
  const settings = { isAutoMining, revertingBatches: 0 };
  const blockTimeS = Math.max(1, Math.ceil((network.finality?.blockTimeMs ?? 1_000) / 1_000));
  const nowS = () => (world === undefined ? undefined : Math.floor(world.clock.nowMs() / 1_000));
  const afterS = (parentS: number) => Math.max(parentS + (world === undefined ? blockTimeS : 0), nowS() ?? 0);

  const ledger = (state: State, timestampS: number): Ledger => ({
    state,
    timestampS,
    collector: COLLECTOR_ADDRESS,
    codeOf: (account) => codes.get(account.toLowerCase()),
    isTaciturn: (asset) => {
      const pay = rules.assets.get(asset)?.pay;
      return pay?.method === 'permit2' && pay.approvesThroughZero === true;
    },
    commitmentOf: rules.commitmentOf,
    depositAddressOf: rules.depositAddressOf,
    signerOf: rules.signerOf,
  });
  const mempool = createMempool({
    nonceOf: (account) => Number(history.state.get(keys.nonce(account))),
    coinOf: (account) => history.state.get(keys.balance(COIN, account)),
  });
  const blocks = createBlocks({
    history,
    genesisS: genesisS ?? nowS() ?? DEFAULT_GENESIS_S,
    nextTimestampS: afterS,
    execute: (transaction, timestampS) => execute(ledger(history.state, timestampS), transaction, market, settings),
    eventOf: (log) => eventOf(rules, log),
  });

  function mine(timestampS?: number): void {
    for (const left of blocks.mine(mempool.take(market.base), timestampS)) mempool.restore(left);
  }

  return {
    network,
    rules,
    history,
    blocks,
    mempool,
    faults: createFaults(network.chainId),
    codes,
    market,
    settings,
    held: [],
    testimonies: Array.from({ length: witnesses }, (_, index) => honestTestimony(`endpoint ${index + 1}`)),
    problems: new Map(),
    ledger,
    nextTimestampS: () => afterS(blocks.head().timestampS),
    mine,
    submit: (transaction) => {
      if (blocks.holding(transaction.hash) !== undefined) return 'known';
      const outcome = mempool.admit(transaction);
      if (outcome === 'accepted' && settings.isAutoMining) mine();
      return outcome;
    },
  };
}

/**
 * Carries out a transaction. Returns undefined if no block can contain the transaction now. A transaction that reverts is still
 * contained in the block, and pays for its gas.
 */
function execute(
  ledger: Ledger,
  transaction: Transaction,
  market: Core['market'],
  settings: Core['settings'],
): Receipt | undefined {
  const { state } = ledger;
  const { from, nonce, fees, gasLimit, payload } = transaction;
  const price = fees.max < market.base + fees.tip ? fees.max : market.base + fees.tip;
  const value = coinIn(payload);
  if (BigInt(nonce) !== state.get(keys.nonce(from))) return undefined;
  if (state.get(keys.balance(COIN, from)) < gasLimit * price + value) return undefined;

  state.set(keys.nonce(from), BigInt(nonce) + 1n);
  const receipt = run(ledger, transaction, settings);
  const coin = keys.balance(COIN, from);
  const coinSpent = receipt.workSpent * price;
  state.set(coin, state.get(coin) - coinSpent);
  return { ...receipt, coinSpent };
}

type Outcome = Omit<Receipt, 'coinSpent'>;

function run(ledger: Ledger, { from, payload, gasLimit }: Transaction, settings: Core['settings']): Outcome {
  const reverted: Outcome = { isReverted: true, workSpent: gasLimit, logs: [] };
  if (payload.kind === 'nothing') return { isReverted: false, workSpent: NOTHING_GAS, logs: [] };
  if (payload.kind === 'batch' && settings.revertingBatches > 0) {
    settings.revertingBatches -= 1;
    return reverted;
  }
  try {
    if (payload.kind === 'act') {
      const logs = ledger.state.attempt(() => payload.act(ledger));
      return { isReverted: false, workSpent: gasLimit, logs };
    }
    const own = ownPayment(payload.batch);
    if (own !== undefined) {
      if (own.payer !== from) throw new Refusal('unknown');
      const logs = ledger.state.attempt(() => [payCoin(ledger, own, own.amount)]);
      return { isReverted: false, workSpent: gasLimit, logs };
    }
    const isSweep = isByDeposit(checkBatch(payload.batch).item.method);
    const { outcomes, logs } = isSweep ? sweep(ledger, payload.batch) : collect(ledger, payload.batch);
    const burnt = outcomes.some((outcome) => outcome.is === 'refused' && outcome.reason === 'out_of_gas');
    const workSpent = burnt ? gasLimit : BATCH_GAS + BigInt(outcomes.length) * ITEM_GAS;
    return { isReverted: false, workSpent: workSpent < gasLimit ? workSpent : gasLimit, logs };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return reverted;
  }
}

function eventOf(rules: EvmRules, log: Exclude<Log, { readonly type: 'transferred' }>): EventBody {
  const { commitment, item } = log;
  const { collector, payer, asset, amount, fee, recipient, feeAccount, method, deadlineS } = item;
  const place = { collector, commitment };
  if (log.type === 'refused') return { ...place, type: 'refused', reason: log.reason };
  const paid = { subject: shownSubject(item), asset, amount, fee, recipient };
  const isSealed = item.seal !== undefined;
  if (log.type === 'swept') {
    const terms = { askedAsset: item.asked ?? asset, feeAccount, asked: amount, askedFee: fee };
    const swept = { ...place, ...paid, type: 'swept', amount: log.amount, fee: log.fee } as const;
    return isSealed ? { ...swept, terms } : swept;
  }
  const shown = methodIn(nonceSpaceOf(method), rules.assets.get(asset)?.pay);
  const terms = { method: shown, feeAccount, deadline: BigInt(deadlineS) };
  return { ...place, ...paid, type: 'paid', payer, ...(isSealed && { terms }) };
}
