import type { Block, ChainEvent, Incoming } from '../chain-reader.ts';
import type { Log } from './ledger.ts';
import type { History, State } from './state.ts';
import { hashOfText, type Transaction } from './transactions.ts';

export interface Receipt {
  readonly isReverted: boolean;
  readonly workSpent: bigint;
  /** The gas cost that the sender paid, in the smallest unit of the coin. */
  readonly coinSpent: bigint;
  readonly logs: readonly Log[];
}

export interface MinedBlock extends Block {
  readonly entries: Entry[];
  readonly receipts: Map<string, Receipt>;
  readonly events: ChainEvent[];
  readonly transfers: Incoming[];
}

/**
 * An entry of a block: a transaction, or a decree. A decree is a direct change of the state by a test script, such as a new
 * balance or a blacklisted account. Decrees are stored with the block, so that a reorg can remove transactions and keep the
 * decrees.
 */
type Entry = { readonly transaction: Transaction } | { readonly decree: (state: State) => void };

export interface Blocks {
  head(): MinedBlock;
  at(number: number): MinedBlock | undefined;
  /** The canonical block with the transaction of this hash. Undefined if no canonical block contains it. */
  holding(hash: string): MinedBlock | undefined;
  /** Mines a block. Returns the transactions that were left out: their nonce is not the next one, or their sender lacks coin. */
  mine(transactions: readonly Transaction[], timestampS?: number): readonly Transaction[];
  decree(apply: (state: State) => void): void;
  /**
   * Replaces the last `depth` blocks by `length` new ones. The first new block gets the old transactions for which `isKept` is
   * true. Returns those of them that it cannot contain.
   */
  replace(depth: number, length: number, isKept: (transaction: Transaction) => boolean): readonly Transaction[];
}

interface Rules {
  readonly history: History;
  readonly genesisS: number;
  nextTimestampS(parentS: number): number;
  /**
   * Carries out a transaction, and returns its receipt. Returns undefined if the nonce is not the next one, or if the sender
   * cannot pay for the transaction.
   */
  execute(transaction: Transaction, timestampS: number): Receipt | undefined;
  eventOf(log: CollectorLog): EventBody;
}

type CollectorLog = Exclude<Log, { readonly type: 'transferred' }>;

/** An event without the fields that say where it is on chain. Plain `Omit` would not distribute over the union of event types. */
type WithoutPlace<T> = T extends unknown ? Omit<T, 'block' | 'transactionHash' | 'logIndex'> : never;
export type EventBody = WithoutPlace<ChainEvent>;

export function createBlocks({ history, genesisS, nextTimestampS, execute, eventOf }: Rules): Blocks {
  const chain: MinedBlock[] = [seal(undefined, genesisS, 0)];
  const places = new Map<string, MinedBlock>();
  let reorgs = 0;

  const head = () => chain.at(-1) as MinedBlock;

  function open(timestampS = nextTimestampS(head().timestampS)): MinedBlock {
    const block = seal(head(), timestampS, reorgs);
    history.openBlock(block.number);
    chain.push(block);
    return block;
  }

  function include(block: MinedBlock, transaction: Transaction): boolean {
    const receipt = execute(transaction, block.timestampS);
    if (receipt === undefined) return false;
    block.entries.push({ transaction });
    block.receipts.set(transaction.hash, receipt);
    places.set(transaction.hash, block);
    for (const log of receipt.logs) {
      const { number, hash } = block;
      const logIndex = block.events.length + block.transfers.length;
      const place = { block: { number, hash }, transactionHash: transaction.hash, logIndex };
      if (log.type === 'transferred') {
        const { asset, from, to, amount } = log;
        block.transfers.push({ ...place, ...(log.isCoin && { logIndex: -1 }), asset, from, to, amount });
      } else block.events.push({ ...place, ...eventOf(log) });
    }
    return true;
  }

  function replace(depth: number, length: number, isKept: (transaction: Transaction) => boolean) {
    if (!Number.isInteger(depth) || depth < 1 || depth > head().number)
      throw new RangeError(`Cannot undo ${depth} blocks`);
    const undone = chain.splice(chain.length - depth);
    history.goBackTo(head().number);
    for (const { receipts } of undone) for (const hash of receipts.keys()) places.delete(hash);
    reorgs += 1;

    const left: Transaction[] = [];
    const first = open(undone[0]?.timestampS);
    for (const entry of undone.flatMap(({ entries }) => entries)) {
      if ('decree' in entry) {
        entry.decree(history.state);
        first.entries.push(entry);
      } else if (isKept(entry.transaction) && !include(first, entry.transaction)) left.push(entry.transaction);
    }
    for (let added = 1; added < length; added += 1) open(undone[added]?.timestampS);
    return left;
  }

  return {
    head,
    at: (number) => chain[number],
    holding: (hash) => places.get(hash),
    mine: (transactions, timestampS) => {
      const block = open(timestampS);
      return transactions.filter((transaction) => !include(block, transaction));
    },
    decree: (apply) => {
      apply(history.state);
      head().entries.push({ decree: apply });
    },
    replace,
  };
}

/** An empty block. Its hash includes the number of reorgs, so that a block and its replacement have different hashes. */
function seal(parent: MinedBlock | undefined, timestampS: number, reorgs: number): MinedBlock {
  const number = parent === undefined ? 0 : parent.number + 1;
  const parentHash = parent?.hash ?? `0x${'0'.repeat(64)}`;
  const hash = hashOfText(`${parentHash} ${number} ${timestampS} ${reorgs}`);
  return { number, hash, parentHash, timestampS, entries: [], receipts: new Map(), events: [], transfers: [] };
}
