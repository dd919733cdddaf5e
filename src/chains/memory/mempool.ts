import type { BroadcastOutcome } from '../sender.ts';
import { coinIn, type Transaction } from './transactions.ts';

/** Pending transactions, with the rules that nodes have in common. */
export interface Mempool {
  admit(transaction: Transaction): BroadcastOutcome;
  /** Puts a transaction back after a reorg, without another check. */
  restore(transaction: Transaction): void;
  /** The account's first nonce that is neither mined nor pending. */
  nextNonce(account: string): number;
  has(hash: string): boolean;
  list(): readonly Transaction[];
  /** Removes the transactions of the next block: the highest tips first, and each sender's transactions by nonce. */
  take(baseFee: bigint): readonly Transaction[];
  remove(hash: string): boolean;
  /**
   * Switches strict nonces on or off. With strict nonces, a transaction whose nonce leaves a gap is refused, as some nodes do.
   * Without them, it waits in the mempool.
   */
  setStrictNonces(isStrict: boolean): void;
}

interface Accounts {
  nonceOf(account: string): number;
  coinOf(account: string): bigint;
}

const BLOCK_GAS_LIMIT = 60_000_000n;
/** The least fee of a replacement, in percent of the replaced fee. */
const REPLACEMENT_PERCENT = 110n;

export function createMempool(accounts: Accounts): Mempool {
  const waiting = new Map<string, Transaction>();
  const slotOf = ({ from, nonce }: Pick<Transaction, 'from' | 'nonce'>) => `${from.toLowerCase()} ${nonce}`;
  let isStrict = false;

  function admit(transaction: Transaction): BroadcastOutcome {
    const { from, nonce, hash } = transaction;
    const other = waiting.get(slotOf(transaction));
    if (other?.hash === hash) return 'known';
    if (nonce < accounts.nonceOf(from)) return 'slot_used';
    if (isStrict && nonce > nextNonce(from)) return 'slot_early';
    if (other !== undefined && !outbids(transaction, other)) return 'underpriced';
    if (accounts.coinOf(from) < costOf(transaction)) return 'short_balance';
    waiting.set(slotOf(transaction), transaction);
    return 'accepted';
  }

  function nextNonce(from: string): number {
    let nonce = accounts.nonceOf(from);
    while (waiting.has(slotOf({ from, nonce }))) nonce += 1;
    return nonce;
  }

  function take(baseFee: bigint): readonly Transaction[] {
    const taken: Transaction[] = [];
    const nonces = new Map<string, number>();
    let gasLeft = BLOCK_GAS_LIMIT;
    const isReady = (candidate: Transaction) =>
      candidate.nonce === (nonces.get(candidate.from) ?? accounts.nonceOf(candidate.from)) &&
      candidate.fees.max >= baseFee &&
      candidate.gasLimit <= gasLeft &&
      accounts.coinOf(candidate.from) >= costOf(candidate);
    while (true) {
      // Equal tips are ordered by arrival, which a Map preserves.
      const ready = [...waiting.values()].filter(isReady);
      const best = ready.reduce<Transaction | undefined>(
        (most, candidate) => (most === undefined || tip(candidate, baseFee) > tip(most, baseFee) ? candidate : most),
        undefined,
      );
      if (best === undefined) return taken;
      waiting.delete(slotOf(best));
      nonces.set(best.from, best.nonce + 1);
      gasLeft -= best.gasLimit;
      taken.push(best);
    }
  }

  return {
    admit,
    restore: (transaction) => {
      if (!waiting.has(slotOf(transaction))) waiting.set(slotOf(transaction), transaction);
    },
    nextNonce,
    has: (hash) => [...waiting.values()].some((transaction) => transaction.hash === hash),
    list: () => [...waiting.values()],
    take,
    remove: (hash) => {
      const found = [...waiting.values()].find((transaction) => transaction.hash === hash);
      return found !== undefined && waiting.delete(slotOf(found));
    },
    setStrictNonces: (strict) => {
      isStrict = strict;
    },
  };
}

function outbids(offer: Transaction, other: Transaction): boolean {
  return (
    offer.fees.max * 100n >= other.fees.max * REPLACEMENT_PERCENT &&
    offer.fees.tip * 100n >= other.fees.tip * REPLACEMENT_PERCENT
  );
}

function tip({ fees }: Transaction, baseFee: bigint): bigint {
  const room = fees.max - baseFee;
  return room < fees.tip ? room : fees.tip;
}

function costOf({ gasLimit, fees, payload }: Transaction): bigint {
  return gasLimit * fees.max + coinIn(payload);
}
