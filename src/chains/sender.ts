import type { Item, SignedItem } from '../domain/item.ts';
import type { Offer } from '../domain/offer.ts';
import type { Receipt } from './chain-reader.ts';
import type { Network } from './network.ts';
import type { RefusalReason } from './refusal-reason.ts';
import type { Signer } from './signer.ts';

/** The port for our own transactions: tried out, signed, broadcast and followed. */
export interface Sender {
  readonly network: Network;

  /**
   * The outcome that each item would have if the batch were sent now. Rejects with `SenderShortError` if the sender cannot pay
   * the cost.
   */
  simulate(batch: readonly SignedItem[], how?: Simulation): Promise<readonly ItemOutcome[]>;
  /** Signs an item whose payer is one of our own accounts. */
  signItem(signer: Signer, item: Item): Promise<string>;
  /** The most items of this kind that fit into one transaction. */
  maxBatchItems(item: Item): number;
  /** An offer with which a transaction is expected to be mined soon. */
  suggestOffer(): Promise<Offer>;
  /**
   * The offer with which a transaction can replace one that made `offer` and is not mined. Undefined above the operator's cap, or
   * if a higher offer would not help: then the signed transaction is only sent again.
   */
  raiseOffer(offer: Offer, terms: { readonly current: Offer; readonly cap: bigint | undefined }): Offer | undefined;
  /** A price of an offer as text, in the usual unit of the chain family. */
  priceText(price: bigint): string;
  /**
   * Signs a batch without sending it. All items share Collector, asset, method and fee account. A batch in native coin has one
   * item, which the signer pays.
   */
  signBatch(signer: Signer, batch: readonly SignedItem[], bid: Bid): Promise<SignedTransaction>;
  /** Signs a transaction that does nothing but use up its slot. */
  signNothing(signer: Signer, bid: Bid): Promise<SignedTransaction>;
  /**
   * Sends a signed transaction to one endpoint. If `isRepeated` is true, the transaction was sent before, and is now sent to
   * every endpoint, because an endpoint may accept a transaction and pass it on to nobody.
   */
  broadcast(bytes: string, how?: { readonly isRepeated: boolean }): Promise<BroadcastOutcome>;
  findTransaction(hash: string): Promise<TransactionState>;
  /**
   * The number of slots that mined transactions of the account used, by the answer of one endpoint. For display only: decisions
   * need two endpoints.
   */
  usedSlots(signer: string): Promise<number>;
}

export type ItemOutcome = { readonly is: 'paid' } | { readonly is: 'refused'; readonly reason: RefusalReason };

export interface Simulation {
  /**
   * The transaction that would be sent. The simulation uses its sender, offer and limits, because a contract can notice other
   * values and then behave differently than in the transaction.
   */
  readonly as?: Sending;
  /** The block after which the batch is simulated. Without it, the newest block. */
  readonly atBlock?: number;
  /**
   * True to ask two endpoints. An item counts as paid if one of them would carry it out, because a single endpoint may refuse
   * everything.
   */
  readonly isDoubted?: boolean;
}

export interface Sending {
  readonly from: string;
  readonly offer: Offer;
}

/**
 * A slot of an account, and the offer for the transaction in it. Slots are counted from 0 and are used in their order, each by
 * one transaction. EVM chains call them nonces.
 */
export interface Bid {
  readonly slot: number;
  readonly offer: Offer;
}

/** A signed transaction. Only the code of its chain family can read it. Other code stores it, sends it, and identifies it by its hash. */
export interface SignedTransaction {
  readonly hash: string;
  readonly bytes: string;
  /** The most that the transaction can cost, in the smallest unit of the coin, without the coin that it transfers. */
  readonly cost: bigint;
}

/**
 * The answer to a broadcast. Without a clear answer, `broadcast` rejects with `ChainUnavailableError`, because the transaction
 * may have spread.
 */
export type BroadcastOutcome =
  | 'accepted'
  /** The endpoint had the transaction already. */
  | 'known'
  /** Another transaction has used the slot. */
  | 'slot_used'
  /** The transaction of an earlier slot has not arrived. */
  | 'slot_early'
  /** The transaction needs a higher offer to replace another one. */
  | 'underpriced'
  | 'short_balance';

export type TransactionState =
  | { readonly is: 'unknown' }
  | { readonly is: 'pending' }
  | ({ readonly is: 'mined' } & Omit<Receipt, 'events' | 'from'>);
