import type { Item, SignedItem } from '../domain/item.ts';
import type { ChainCheck } from './chain-check.ts';
import type { ChainHealth } from './chain-health.ts';
import type { PaidTerms, SweptTerms } from './event-terms.ts';
import type { FinalityTag, Network } from './network.ts';
import type { Signable } from './signable.ts';

/**
 * The port to a chain. An adapter reports, it never decides a payment.
 *
 * Every answer is three-valued. A method resolves with a known answer. It rejects with `ChainUnavailableError` when it could not
 * find one (an endpoint is down, lies, or lags behind). "Unknown" can therefore never be taken for "no". A revert is an answer of
 * the chain. If the revert answers the question, the method resolves. If it does not, because a token breaks its standard, the
 * method rejects with `ContractFaultError`.
 */
export interface Chain {
  readonly network: Network;

  /** Compares our data with the chain. Assets that differ are no longer offered. Rejects only if no endpoint is reachable. */
  check(): Promise<ChainCheck>;
  /** The last known state of the endpoints. Makes no call. */
  health(): ChainHealth;
  /**
   * The address of the Collector release that new items are made for. Undefined while the network has none. Items made for older
   * releases are still executed and reported.
   */
  collector(): string | undefined;
  /** The address of the contract that new deposit addresses are derived from. Undefined while the network has none. */
  depositContract(): string | undefined;

  /** The commitment: the hash of the whole item. The payer's signature covers it, or the deposit address is derived from it. */
  commitmentOf(item: Item): string;
  /** The terms that the seal of an item authenticates, as one text: everything that the commitment covers except the subject. */
  sealedTerms(item: Omit<Item, 'subject' | 'seal'>): string;
  /** The deposit address of an item by deposit. The address does not depend on the payer. */
  depositAddressOf(item: Item): string;
  /** The actions of the payer's wallet for the item, in order. */
  walletActions(item: Item, allowance: bigint): readonly WalletAction[];

  /** Everything the options of one request need of this chain, in one round trip. */
  survey(ask: SurveyAsk): Promise<Survey>;
  /** The outcome if the item were executed now with this signature. If a sender is given, that account sends the transaction. */
  judge(item: Item, signature: string, sender?: string): Promise<Verdict>;

  /** The outcome of each item if the batch were sent now. Rejects with `SenderShortError` if the sender cannot pay the gas. */
  simulate(batch: readonly SignedItem[], how?: Simulation): Promise<readonly ItemOutcome[]>;
  /** True if the authorization with this commitment was executed by anyone, or cancelled. */
  isUsed(item: Item, commitment: string, atBlock?: number): Promise<boolean>;

  /** Signs the item with one of our own accounts as payer. */
  signItem(signer: Signer, item: Item): Promise<string>;

  /** The most items of this kind that fit into one transaction. */
  maxBatchItems(item: Item): number;
  /** The next free nonce by mined transactions, according to one endpoint. Only for display: decisions need two endpoints. */
  minedNonce(signer: string): Promise<number>;
  /** The balance in the native coin, now or at a block. */
  balance(account: string, atBlock?: number): Promise<bigint>;
  holding(account: string, asset: string, atBlock: number): Promise<bigint>;
  suggestFees(): Promise<Fees>;
  /** Signs without sending. All items share Collector, asset, method and fee account. In coin, the signer pays the only item. */
  signBatch(signer: Signer, batch: readonly SignedItem[], slot: Slot): Promise<SignedTransaction>;
  /** Signs a transaction that does nothing but use up its nonce. */
  signNothing(signer: Signer, slot: Slot): Promise<SignedTransaction>;
  broadcast(bytes: string): Promise<BroadcastOutcome>;
  findTransaction(hash: string): Promise<TransactionState>;
  /**
   * True if an endpoint shows this transaction, pending or mined, as the payer's own payment of the item in coin: from the payer,
   * to the Collector, with the amount and calldata of the wallet action. False for a reverted transaction. Endpoints may lie and
   * transactions may be replaced, so `true` is a reason to wait for the event, and no evidence.
   */
  isPaymentShown(item: Item, hash: string): Promise<boolean>;

  head(): Promise<Block>;
  /** The canonical block of that height. Undefined when the chain is shorter. */
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
  /** The same, for transfers from or to these accounts. It costs two calls. */
  readonly touching: Chain['incoming'];
  /** Coin that transactions of that block sent to one of these accounts. Transfers by contracts are not included. */
  coinTransfers(accounts: readonly string[], block: number): Promise<readonly Incoming[]>;
  /** The coin transfer of a mined transaction. Undefined when it transfers no coin, or has failed. */
  coinTransfer(hash: string): Promise<Incoming | undefined>;
  /** A transaction with its sender and gas cost. Undefined while it is not mined. */
  sentTransaction(hash: string): Promise<SentTransaction | undefined>;
  /** All transactions of that block that one of these accounts sent. */
  sentTransactions(accounts: readonly string[], block: number): Promise<readonly SentTransaction[]>;
  /** The endpoints one by one, for facts that need more than one witness. The most reliable endpoints come first. */
  witnesses(): readonly Witness[];

  close(): void;
}

/**
 * One endpoint of a chain. It only reports, and the caller decides whether enough endpoints agree. Every method rejects with
 * `ChainUnavailableError` when the endpoint gave no answer.
 */
export interface Witness {
  /** The endpoint's place in the configuration, as in "endpoint 1", never its URL. */
  readonly name: string;
  /** Milliseconds since the endpoint stopped answering, or since it lags behind the chain. 0 for a healthy endpoint. */
  silentForMs(): number;
  /** Records that two other endpoints contradicted this endpoint. It ranks last for a while. */
  distrust(): void;
  head(): Promise<Block>;
  /** The block of that height, or the newest block of that finality. Undefined when the endpoint's chain is shorter. */
  block(which: number | FinalityTag): Promise<Block | undefined>;
  isUsed(item: Item, commitment: string, atBlock: number): Promise<boolean>;
  /** The number of the account's mined transactions, now or at a block. */
  minedNonce(account: string, atBlock?: number): Promise<number>;
  holding(account: string, asset: string, atBlock: number): Promise<bigint>;
  /** Undefined while the endpoint has no receipt. */
  receipt(hash: string): Promise<Receipt | undefined>;
  /** The transaction's transfers of known tokens, and its own coin transfer. Empty while the endpoint has no receipt. */
  transfers(hash: string): Promise<readonly Incoming[]>;
  /** As `Chain.incoming`, according to this endpoint. */
  readonly incoming: Chain['incoming'];
  readonly touching: Chain['incoming'];
  events(fromBlock: number, toBlock: number): Promise<readonly ChainEvent[]>;
}

export interface Receipt {
  readonly block: BlockId;
  readonly isReverted: boolean;
  /** In lower case. */
  readonly from: string;
  readonly gasSpent: bigint;
  /** The gas cost, in the smallest unit of the coin. */
  readonly coinSpent: bigint;
  /** The events of our contracts in the transaction. */
  readonly events: readonly ChainEvent[];
}

export type OnUnreadable = (log: UnreadableLog) => void;

export interface UnreadableLog {
  /** The position of the log. Undefined if the position is unreadable, too. */
  readonly place: { readonly block: number; readonly transactionHash: string; readonly logIndex: number } | undefined;
  readonly reason: string;
}

/** The chain is unreachable. The message never contains an endpoint's address or answer. */
export class ChainUnavailableError extends Error {
  readonly network: string;
  constructor(network: string, reason: string) {
    super(`${network}: ${reason}`);
    this.name = 'ChainUnavailableError';
    this.network = network;
  }
}

/** Undefined if the chain is unreachable. */
export function unlessUnavailable<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error: unknown) => {
    if (error instanceof ChainUnavailableError) return undefined;
    throw error;
  });
}

/**
 * The chain answered, but a contract does not follow its standard: it reverted, returned another form, or does not exist. The
 * endpoints are fine. Only the asset or item that needs this contract is affected.
 */
export class ContractFaultError extends Error {
  readonly contract: string;
  constructor(contract: string, problem: string) {
    super(`the contract ${contract} ${problem}`);
    this.name = 'ContractFaultError';
    this.contract = contract;
  }
}

/** The sender of a transaction has too little coin for its gas. The items of the transaction are not the cause. */
export class SenderShortError extends Error {
  constructor(sender: string) {
    super(`${sender} cannot pay for gas`);
    this.name = 'SenderShortError';
  }
}

/** Every endpoint answered, and no answer is readable. A retry will not help, so the caller sets the subject of the call aside. */
export class UnreadableAnswerError extends ChainUnavailableError {
  constructor(network: string, reason: string) {
    super(network, reason);
    this.name = 'UnreadableAnswerError';
  }
}

export interface WalletAction {
  readonly method: 'eth_signTypedData_v4' | 'eth_sendTransaction';
  readonly params: readonly unknown[];
}

export interface SurveyAsk {
  /** Canonical addresses of the possible payers. */
  readonly payers: readonly string[];
  /** The possible assets, with the recipient of each. */
  readonly assets: readonly { readonly asset: string; readonly recipient: string }[];
  readonly timeoutMs: number;
}

export interface Survey {
  /** One holding for each payer and asset, except for assets with a fault. */
  readonly holdings: readonly Holding[];
  /** The assets that their recipient could not receive. */
  readonly unreceivable: readonly string[];
  /** The assets whose contract did not behave like a token, with the reason. These assets have no holdings. */
  readonly faults: readonly { readonly asset: string; readonly problem: string }[];
}

export interface Holding {
  readonly payer: string;
  readonly asset: string;
  readonly balance: bigint;
  /** The allowance that the payer gave to Permit2. Zero for other methods. */
  readonly allowance: bigint;
  /** True if the token refuses transfers of this account. */
  readonly isRefused: boolean;
}

export type Verdict =
  | { readonly is: 'good'; readonly hasCode: boolean; readonly balance: bigint }
  | { readonly is: 'malformed_signature' | 'wrong_signature' }
  | { readonly is: 'short_balance' | 'short_allowance' }
  /** The authorization was used or cancelled before. */
  | { readonly is: 'used' }
  /** The token or the Collector refuses for a reason of its own, such as a blacklist or a pause. */
  | { readonly is: 'refused'; readonly reason: RefusalReason };

export type RefusalReason =
  | 'used'
  | 'late'
  | 'wrong_signature'
  | 'short_balance'
  | 'short_allowance'
  | 'payer_blacklisted'
  | 'recipient_blacklisted'
  | 'paused'
  | 'short_arrival'
  | 'out_of_gas'
  | 'unknown';

export type ItemOutcome = { readonly is: 'paid' } | { readonly is: 'refused'; readonly reason: RefusalReason };

export interface Simulation {
  /**
   * The transaction to come. The simulation uses its sender, fees and gas: code of a contract can notice a difference and behave in
   * one way in the simulation and in another way in the transaction.
   */
  readonly as?: Sending;
  /** The state after this block instead of the newest block. */
  readonly atBlock?: number;
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

/** Signs transactions, and items of our own accounts. The key is in this process or with an external signer, nowhere else. */
export interface Signer {
  readonly address: string;
  /** Signs a 32-byte digest. Rejects with `SignerRefusedError` when the signer's policy refuses the content. */
  sign(
    digest: Uint8Array,
    content: Signable,
  ): Promise<{ readonly r: bigint; readonly s: bigint; readonly yParity: 0 | 1 }>;
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
  readonly nonce: number;
  readonly block: BlockId;
  /** The gas cost, in the smallest unit of the coin. */
  readonly coinSpent: bigint;
}

/** A transfer to one of our accounts. */
export interface Incoming {
  readonly block: BlockId;
  readonly transactionHash: string;
  /** Negative for native coin, because its transfers leave no log. */
  readonly logIndex: number;
  /** CAIP-19. */
  readonly asset: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/** An event of our contracts. Anybody can cause look-alikes, so an event counts only if its commitment is stored. */
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
      /** The seal of the item, or the 16 bytes of an id by the first release. In hex, without 0x. */
      readonly subject: string;
      readonly payer: string;
      /** CAIP-19. */
      readonly asset: string;
      readonly amount: bigint;
      readonly fee: bigint;
      readonly recipient: string;
      /** The other committed terms. The first release does not show them. */
      readonly terms?: PaidTerms;
    }
  | { readonly type: 'refused'; readonly reason: RefusalReason }
  /** Money was swept from the deposit address of the commitment. The event proves this amount, and no payment. */
  | {
      readonly type: 'swept';
      readonly subject: string;
      /** CAIP-19. */
      readonly asset: string;
      readonly amount: bigint;
      readonly fee: bigint;
      readonly recipient: string;
      /** The other terms of the deposit address. The first releases do not show them. */
      readonly terms?: SweptTerms;
    }
);
