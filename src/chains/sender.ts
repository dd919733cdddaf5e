import type { Item, SignedItem } from '../domain/item.ts';
import type { Offer } from '../domain/offer.ts';
import type { Receipt } from './chain-reader.ts';
import type { Network } from './network.ts';
import type { RefusalReason } from './refusal-reason.ts';
import type { Signer } from './signer.ts';

/** The port for our own transactions: tried out, signed, broadcast and followed. */
export interface Sender {
  readonly network: Network;

  /** The outcome of each item if the batch were sent now. Rejects with `SenderShortError` if the sender cannot pay the cost. */
  simulate(batch: readonly SignedItem[], how?: Simulation): Promise<readonly ItemOutcome[]>;
  /** Signs the item with one of our own accounts as payer. */
  signItem(signer: Signer, item: Item): Promise<string>;
  /** The most items of this kind that fit into one transaction. */
  maxBatchItems(item: Item): number;
  /** The offer with which a transaction is mined soon. */
  suggestOffer(): Promise<Offer>;
  /**
   * The offer with which a transaction can replace one that made `offer` and is not mined. Undefined above the operator's cap, or
   * if a higher offer is no remedy: then the signed transaction is only sent again.
   */
  raiseOffer(offer: Offer, terms: { readonly current: Offer; readonly cap: bigint | undefined }): Offer | undefined;
  /** A price in the words of the family. */
  priceText(price: bigint): string;
  /** Signs without sending. All items share Collector, asset, method and fee account. In coin, the signer pays the only item. */
  signBatch(signer: Signer, batch: readonly SignedItem[], bid: Bid): Promise<SignedTransaction>;
  /** Signs a transaction that does nothing but use up its slot. */
  signNothing(signer: Signer, bid: Bid): Promise<SignedTransaction>;
  /**
   * Sends the bytes to one endpoint. `isRepeated`: they were sent before, and are sent to every endpoint now, because an endpoint may
   * accept a transaction and pass it on to nobody.
   */
  broadcast(bytes: string, how?: { readonly isRepeated: boolean }): Promise<BroadcastOutcome>;
  findTransaction(hash: string): Promise<TransactionState>;
  /** The number of slots that mined transactions of the account used, by one endpoint. For display: decisions need two endpoints. */
  usedSlots(signer: string): Promise<number>;
}

export type ItemOutcome = { readonly is: 'paid' } | { readonly is: 'refused'; readonly reason: RefusalReason };

export interface Simulation {
  /**
   * The transaction to come. The simulation uses its sender and offer, and its limits: code of a contract can notice a difference and behave in
   * one way in the simulation and in another way in the transaction.
   */
  readonly as?: Sending;
  /** The state after this block instead of the newest block. */
  readonly atBlock?: number;
  /** True to ask two endpoints. An item that one of them would carry out is reported as paid: a single one may refuse everything. */
  readonly isDoubted?: boolean;
}

export interface Sending {
  readonly from: string;
  readonly offer: Offer;
}

/**
 * A place in the order of an account's transactions, and the offer for it. Slots are counted from 0 and are used in their order, each
 * by one transaction; a family says what they are on its chain.
 */
export interface Bid {
  readonly slot: number;
  readonly offer: Offer;
}

/** A transaction that only its family can read. The others keep it, send it, and know it by its hash. */
export interface SignedTransaction {
  readonly hash: string;
  readonly bytes: string;
  /** The most that it can cost, in the smallest unit of the coin, without the coin that it transfers. */
  readonly cost: bigint;
}

/** The answer to a broadcast. If unclear, rejects with `ChainUnavailableError`, because the transaction may have spread. */
export type BroadcastOutcome =
  | 'accepted'
  /** The endpoint had the transaction already. */
  | 'known'
  /** Another transaction has used the slot. */
  | 'slot_used'
  /** The transaction of an earlier slot has not arrived. */
  | 'slot_early'
  /** A replacement needs a higher offer. */
  | 'underpriced'
  | 'short_balance';

export type TransactionState =
  | { readonly is: 'unknown' }
  | { readonly is: 'pending' }
  | ({ readonly is: 'mined' } & Omit<Receipt, 'events' | 'from'>);
