import type { Item } from '../domain/item.ts';
import type { PaidTerms, SweptTerms } from './event-terms.ts';
import type { FinalityTag, Network } from './network.ts';
import type { RefusalReason } from './refusal-reason.ts';

/** The port that reports what a chain shows. An adapter reports facts and never decides a payment. */
export interface ChainReader {
  readonly network: Network;

  head(): Promise<Block>;
  /** The canonical block of this height. Undefined when the chain is shorter. */
  block(number: number): Promise<Block | undefined>;
  /** The events of every release of our contracts in these blocks, in order. Bounds are inclusive. Unreadable logs are left out. */
  events(fromBlock: number, toBlock: number, onUnreadable?: OnUnreadable): Promise<readonly ChainEvent[]>;
  /**
   * Transfers of known tokens to these accounts in these blocks, in order. Transfers by our own contracts are included. The number
   * of calls does not depend on the number of accounts.
   */
  incoming(
    accounts: ReadonlySet<string> | ReadonlyMap<string, unknown>,
    fromBlock: number,
    toBlock: number,
    onUnreadable?: OnUnreadable,
  ): Promise<readonly Incoming[]>;
  /** Like `incoming`, but for transfers from these accounts as well as to them. It needs two calls to an endpoint. */
  readonly touching: ChainReader['incoming'];
  /** Native coin that transactions of a block sent to one of these accounts. Coin that contracts sent is not included. */
  coinTransfers(accounts: readonly string[], block: number): Promise<readonly Incoming[]>;
  /** The coin transfer of a mined transaction. Undefined when it transfers no coin, or has failed. */
  coinTransfer(hash: string): Promise<Incoming | undefined>;
  /** A transaction with its sender and cost. Undefined while it is not mined. */
  sentTransaction(hash: string): Promise<SentTransaction | undefined>;
  /** All transactions of a block that one of these accounts sent. */
  sentTransactions(accounts: readonly string[], block: number): Promise<readonly SentTransaction[]>;
  /** The balance in the native coin, now or at a block. */
  balance(account: string, atBlock?: number): Promise<bigint>;
  holding(account: string, asset: string, atBlock: number): Promise<bigint>;
  /** True if the authorization with this commitment was executed by anyone, or cancelled. */
  isUsed(item: Item, commitment: string, atBlock?: number): Promise<boolean>;
  /** The endpoints one by one, for facts that need more than one witness. The most reliable endpoints come first. */
  witnesses(): readonly Witness[];
}

/**
 * One endpoint of a chain. It only reports, and the caller decides whether enough endpoints agree. Every method rejects with
 * `ChainUnavailableError` when the endpoint gave no answer.
 */
export interface Witness {
  /** The endpoint's number in the configuration, such as `endpoint 1`, never its URL. */
  readonly name: string;
  /** Milliseconds since the endpoint stopped answering, or since it lags behind the chain. 0 for a healthy endpoint. */
  silentForMs(): number;
  /** Records that two other endpoints contradicted this endpoint. For a while, this endpoint is then asked last. */
  distrust(): void;
  head(): Promise<Block>;
  /** The block of this height, or the newest block of this finality. Undefined when the endpoint's chain is shorter. */
  block(which: number | FinalityTag): Promise<Block | undefined>;
  isUsed(item: Item, commitment: string, atBlock: number): Promise<boolean>;
  /** The number of slots that mined transactions of the account used, now or at a block. */
  usedSlots(account: string, atBlock?: number): Promise<number>;
  holding(account: string, asset: string, atBlock: number): Promise<bigint>;
  /** The receipt of a transaction. Undefined while the endpoint has none. */
  receipt(hash: string): Promise<Receipt | undefined>;
  /** The transaction's transfers of known tokens, and its own coin transfer. Empty while the endpoint has no receipt. */
  transfers(hash: string): Promise<readonly Incoming[]>;
  /** Like `ChainReader.incoming`, but by the answers of this endpoint alone. */
  readonly incoming: ChainReader['incoming'];
  readonly touching: ChainReader['incoming'];
  events(fromBlock: number, toBlock: number): Promise<readonly ChainEvent[]>;
}

export interface Receipt {
  readonly block: BlockId;
  readonly isReverted: boolean;
  /** The address of the sender in lower case. */
  readonly from: string;
  /** The units of execution that the transaction used, such as gas. */
  readonly workSpent: bigint;
  /** The cost of the transaction, in the smallest unit of the coin. */
  readonly coinSpent: bigint;
  /** The events of our contracts in the transaction. */
  readonly events: readonly ChainEvent[];
}

export type OnUnreadable = (log: UnreadableLog) => void;

export interface UnreadableLog {
  /** The place of the log on chain. Undefined if this place is unreadable, too. */
  readonly place: { readonly block: number; readonly transactionHash: string; readonly logIndex: number } | undefined;
  readonly reason: string;
}

export interface BlockId {
  readonly number: number;
  readonly hash: string;
}

export interface Block extends BlockId {
  readonly parentHash: string;
  readonly timestampS: number;
}

/** A mined transaction with the facts that the books of its sender need. */
export interface SentTransaction {
  readonly hash: string;
  readonly from: string;
  /** The number of the transaction among those of its sender. */
  readonly slot: number;
  readonly block: BlockId;
  /** The cost of the transaction, in the smallest unit of the coin. */
  readonly coinSpent: bigint;
}

/** A transfer to one of our accounts, or from one if it was read by `touching`. */
export interface Incoming {
  readonly block: BlockId;
  readonly transactionHash: string;
  /** The index of the transfer's log in its block. Negative for native coin, because its transfers leave no log. */
  readonly logIndex: number;
  /** A CAIP-19 id. */
  readonly asset: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/** An event of our contracts. Anybody can make a contract emit a similar one, so an event counts only if its commitment is stored. */
export type ChainEvent = {
  readonly block: BlockId;
  readonly transactionHash: string;
  readonly logIndex: number;
  /** The address of the release that emitted the event. */
  readonly collector: string;
  readonly commitment: string;
} & (
  | {
      readonly type: 'paid';
      /** The seal of the item, or from the first release the 16 bytes of an id. In hex, without 0x. */
      readonly subject: string;
      readonly payer: string;
      /** A CAIP-19 id. */
      readonly asset: string;
      readonly amount: bigint;
      readonly fee: bigint;
      readonly recipient: string;
      /** The other committed terms. The first release does not show them. */
      readonly terms?: PaidTerms;
    }
  | { readonly type: 'refused'; readonly reason: RefusalReason }
  /** Money was swept from the deposit address of the commitment. The event proves this amount, and does not prove a payment. */
  | {
      readonly type: 'swept';
      readonly subject: string;
      /** A CAIP-19 id. */
      readonly asset: string;
      readonly amount: bigint;
      readonly fee: bigint;
      readonly recipient: string;
      /** The other terms of the deposit address. The first releases do not show them. */
      readonly terms?: SweptTerms;
    }
);
