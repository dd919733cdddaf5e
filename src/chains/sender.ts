import type { Item, SignedItem } from '../domain/item.ts';
import type { Receipt } from './chain-reader.ts';
import type { Network } from './network.ts';
import type { RefusalReason } from './refusal-reason.ts';
import type { Signer } from './signer.ts';

/** The port for our own transactions: tried out, signed, broadcast and followed. */
export interface Sender {
  readonly network: Network;

  /** The outcome of each item if the batch were sent now. Rejects with `SenderShortError` if the sender cannot pay the gas. */
  simulate(batch: readonly SignedItem[], how?: Simulation): Promise<readonly ItemOutcome[]>;
  /** Signs the item with one of our own accounts as payer. */
  signItem(signer: Signer, item: Item): Promise<string>;
  /** The most items of this kind that fit into one transaction. */
  maxBatchItems(item: Item): number;
  suggestFees(): Promise<Fees>;
  /**
   * The fees with which a transaction can replace one that offered `fees` and is not mined. Undefined above the operator's cap, or
   * if higher fees are no remedy: then the signed transaction is only sent again.
   */
  raiseFees(fees: Fees, terms: { readonly price: Fees; readonly cap: bigint | undefined }): Fees | undefined;
  /** Signs without sending. All items share Collector, asset, method and fee account. In coin, the signer pays the only item. */
  signBatch(signer: Signer, batch: readonly SignedItem[], slot: Slot): Promise<SignedTransaction>;
  /** Signs a transaction that does nothing but use up its nonce. */
  signNothing(signer: Signer, slot: Slot): Promise<SignedTransaction>;
  /**
   * Sends the bytes to one endpoint. `isRepeated`: they were sent before, and are sent to every endpoint now, because an endpoint may
   * accept a transaction and pass it on to nobody.
   */
  broadcast(bytes: string, how?: { readonly isRepeated: boolean }): Promise<BroadcastOutcome>;
  findTransaction(hash: string): Promise<TransactionState>;
  /** The next free nonce by mined transactions, according to one endpoint. Only for display: decisions need two endpoints. */
  minedNonce(signer: string): Promise<number>;
}

export type ItemOutcome = { readonly is: 'paid' } | { readonly is: 'refused'; readonly reason: RefusalReason };

export interface Simulation {
  /**
   * The transaction to come. The simulation uses its sender, fees and gas: code of a contract can notice a difference and behave in
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
  readonly fees: Fees;
}

export interface Slot {
  readonly nonce: number;
  readonly fees: Fees;
}

/** Per unit of gas, in the smallest unit of the native coin. */
export interface Fees {
  readonly max: bigint;
  readonly tip: bigint;
}

export interface SignedTransaction {
  readonly hash: string;
  readonly bytes: string;
  readonly gasLimit: bigint;
}

/** The answer to a broadcast. If unclear, rejects with `ChainUnavailableError`, because the transaction may have spread. */
export type BroadcastOutcome =
  | 'accepted'
  /** The endpoint had the transaction already. */
  | 'known'
  | 'nonce_too_low'
  | 'nonce_too_high'
  /** A replacement needs a higher fee. */
  | 'underpriced'
  | 'short_balance';

export type TransactionState =
  | { readonly is: 'unknown' }
  | { readonly is: 'pending' }
  | ({ readonly is: 'mined' } & Omit<Receipt, 'events' | 'from'>);
