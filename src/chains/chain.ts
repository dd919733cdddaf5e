import type { Item, SignedItem } from '../domain/item.ts';
import type { ChainCheck } from './chain-check.ts';
import type { ChainHealth } from './chain-health.ts';
import type { PaidTerms, SweptTerms } from './event-terms.ts';
import type { FinalityTag, Network } from './networks.ts';
import type { Signable } from './signable.ts';

/**
 * The port to a chain. An adapter reports, it never decides a payment.
 *
 * Every answer is three-valued. A method resolves with a known answer. It rejects with `ChainUnavailableError` when it
 * could not find one (an endpoint is down, lies, or lags behind). "Unknown" can therefore never be taken for "no". A
 * revert is an answer of the chain. Where it answers the question, the method resolves; where it leaves the question
 * open, because a token does not behave as one, the method rejects with `ContractFaultError`.
 */
export interface Chain {
  readonly network: Network;

  /**
   * Compares our data of the network with the chain itself. Assets that differ are not offered any more. Rejects only
   * when no endpoint is reachable.
   */
  check(): Promise<ChainCheck>;
  /** The known state of its endpoints, without a call. */
  health(): ChainHealth;
  /**
   * The address of the Collector that new items are made for; undefined while the network has none. Items of older
   * releases are carried out and reported as well.
   */
  collector(): string | undefined;
  /** The address of the contract that new deposit addresses are made for; undefined while the network has none. */
  depositContract(): string | undefined;

  /** The commitment: the hash of the whole item, which the payer's signature covers, or which a deposit address follows from. */
  commitmentOf(item: Item): string;
  /** The terms that the seal of an item authenticates, as one text: all that its commitment covers, but for the subject. */
  sealedTerms(item: Omit<Item, 'subject' | 'seal'>): string;
  /** The deposit address of an item by deposit. Its payer does not matter. */
  depositAddressOf(item: Item): string;
  /** The actions of the payer's wallet for the item, in order. */
  walletActions(item: Item, allowance: bigint): readonly WalletAction[];

  /** Everything the options of one request need of this chain, in one round trip. */
  survey(ask: SurveyAsk): Promise<Survey>;
  /** The outcome of the item with this signature, if it were carried out now; by that sender, if one is named. */
  judge(item: Item, signature: string, sender?: string): Promise<Verdict>;

  /**
   * The outcome of each item if the batch were sent now. Rejects with `SenderShortError` when the sender cannot pay for
   * the gas.
   */
  simulate(batch: readonly SignedItem[], how?: Simulation): Promise<readonly ItemOutcome[]>;
  /** True if the authorization with this commitment is used: carried out by anyone, or cancelled. */
  isUsed(item: Item, commitment: string, atBlock?: number): Promise<boolean>;

  /** Signs the item with one of our own accounts as payer. */
  signItem(signer: Signer, item: Item): Promise<string>;

  /** The most items of this kind that fit into one transaction. */
  maxBatchItems(item: Item): number;
  /** The next free nonce as one endpoint sees it, mined transactions only. It is for display. `hearNonce` asks two. */
  minedNonce(signer: string): Promise<number>;
  /** Of the native coin; now, or at that block. */
  balance(account: string, atBlock?: number): Promise<bigint>;
  /** The balance of an account in an asset at that block. */
  holding(account: string, asset: string, atBlock: number): Promise<bigint>;
  suggestFees(): Promise<Fees>;
  /**
   * Signs; sends nothing. All items of a batch share Collector, asset, method and fee account; in coin it is the signer's
   * own one.
   */
  signBatch(signer: Signer, batch: readonly SignedItem[], slot: Slot): Promise<SignedTransaction>;
  /** Signs a transaction that does nothing but use up its nonce. */
  signNothing(signer: Signer, slot: Slot): Promise<SignedTransaction>;
  broadcast(bytes: string): Promise<BroadcastOutcome>;
  /** The state of a transaction on the chain. */
  findTransaction(hash: string): Promise<TransactionState>;
  /**
   * True if an endpoint shows this transaction, pending or mined, as the payer's own payment of the item in coin: from
   * the payer, to the Collector, with the amount and calldata of the wallet action. A reverted one is not shown.
   * Endpoints may lie and transactions may be replaced, so this is a reason to wait for the event, and no evidence.
   */
  isPaymentShown(item: Item, hash: string): Promise<boolean>;

  head(): Promise<Block>;
  /** The canonical block of that height; undefined when the chain is not that long. */
  block(number: number): Promise<Block | undefined>;
  /** The events of every release of our contracts in these blocks, in order. Bounds are inclusive. An unreadable log is left out. */
  events(fromBlock: number, toBlock: number, onUnreadable?: OnUnreadable): Promise<readonly ChainEvent[]>;
  /**
   * Transfers of known tokens to these accounts in these blocks, in order, by the same number of calls for any number of
   * accounts. Those of our own contracts are included.
   */
  incoming(
    accounts: ReadonlySet<string> | ReadonlyMap<string, unknown>,
    fromBlock: number,
    toBlock: number,
    onUnreadable?: OnUnreadable,
  ): Promise<readonly Incoming[]>;
  /** Coin that transactions of that block sent to one of these accounts. Transfers by contracts are not included. */
  coinTransfers(accounts: readonly string[], block: number): Promise<readonly Incoming[]>;
  /** The coin transfer of a mined transaction. Undefined when it transfers no coin, or has failed. */
  coinTransfer(hash: string): Promise<Incoming | undefined>;
  /** A transaction with its sender and gas cost. Undefined while it is not mined. */
  sentTransaction(hash: string): Promise<SentTransaction | undefined>;
  /** The same for all transactions of that block that one of these accounts sent. */
  sentTransactions(accounts: readonly string[], block: number): Promise<readonly SentTransaction[]>;
  /** The single endpoints, for facts that need more than one witness. The most reliable ones come first. */
  witnesses(): readonly Witness[];

  close(): void;
}

/**
 * One endpoint of a chain, asked alone. It only reports. The caller decides whether enough endpoints agree. Every
 * method rejects with `ChainUnavailableError` when the endpoint gave no answer.
 */
export interface Witness {
  /** Its place in the configuration, as in "endpoint 1", and never its address. */
  readonly name: string;
  /** Milliseconds without an answer, or behind the chain's own time. 0 for a healthy endpoint. */
  silentForMs(): number;
  /** Records that two other endpoints contradicted it. It ranks last for a while. */
  distrust(): void;
  head(): Promise<Block>;
  /** The block of that height, or the newest of that finality; undefined when its chain is not that long. */
  block(which: number | FinalityTag): Promise<Block | undefined>;
  isUsed(item: Item, commitment: string, atBlock: number): Promise<boolean>;
  /** The number of the account's mined transactions; now, or at that block. */
  minedNonce(account: string, atBlock?: number): Promise<number>;
  /** The balance of an account in an asset at that block. */
  holding(account: string, asset: string, atBlock: number): Promise<bigint>;
  /** The transaction's receipt. Undefined while the endpoint has none. */
  receipt(hash: string): Promise<Receipt | undefined>;
  /**
   * Transfers of known tokens by the transaction, and its own coin transfer. Empty while the endpoint has no receipt.
   */
  transfers(hash: string): Promise<readonly Incoming[]>;
  /** Like the method of `Chain`, answered by this endpoint. */
  events(fromBlock: number, toBlock: number): Promise<readonly ChainEvent[]>;
}

/** The parts of a mined transaction that payments need. */
export interface Receipt {
  readonly block: BlockId;
  readonly isReverted: boolean;
  /** The sender, in lower case. */
  readonly from: string;
  readonly gasSpent: bigint;
  /** The gas cost, in the smallest unit of the coin. */
  readonly coinSpent: bigint;
  /** The events of our contracts in it. */
  readonly events: readonly ChainEvent[];
}

/** Called with each unreadable log. */
export type OnUnreadable = (log: UnreadableLog) => void;

export interface UnreadableLog {
  /** Its position; undefined if that is unreadable too. */
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

/**
 * The chain answered, but a contract does not follow its standard: it reverted, returned another form, or does not
 * exist. The endpoints are fine. Only the asset or item that needs this contract is affected.
 */
export class ContractFaultError extends Error {
  /** The address of the contract. */
  readonly contract: string;
  constructor(contract: string, problem: string) {
    super(`the contract ${contract} ${problem}`);
    this.name = 'ContractFaultError';
    this.contract = contract;
  }
}

/** The sender of a transaction has too little coin for its gas. The items in it are not to blame. */
export class SenderShortError extends Error {
  constructor(sender: string) {
    super(`${sender} cannot pay for gas`);
    this.name = 'SenderShortError';
  }
}

/**
 * Every endpoint answered, and no answer is readable. A retry will not help, so the subject of the call is set aside.
 */
export class UnreadableAnswerError extends ChainUnavailableError {
  constructor(network: string, reason: string) {
    super(network, reason);
    this.name = 'UnreadableAnswerError';
  }
}

/** A request to the payer's wallet. */
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
  /** One for each payer and asset, except for assets with a fault. */
  readonly holdings: readonly Holding[];
  /** The assets whose recipient could not receive them. */
  readonly unreceivable: readonly string[];
  /** The assets whose contract did not answer like a token, with the reason. They have no holdings. */
  readonly faults: readonly { readonly asset: string; readonly problem: string }[];
}

export interface Holding {
  readonly payer: string;
  readonly asset: string;
  readonly balance: bigint;
  /** The allowance of Permit2. Zero for other methods. */
  readonly allowance: bigint;
  /** The token itself refuses transfers of this account. */
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
   * The transaction to come. The simulation then runs with its sender, fees and gas, because code that notices a
   * difference can answer one way in the simulation and another way in the transaction.
   */
  readonly as?: Sending;
  /** After this block instead of the newest one. */
  readonly atBlock?: number;
}

export interface Sending {
  readonly from: string;
  readonly fees: Fees;
}

/** The nonce and the fees of a transaction. */
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

/**
 * Signs transactions, and items of our own accounts. The key is in this process or with an external signer, and is
 * visible nowhere else.
 */
export interface Signer {
  readonly address: string;
  /**
   * Of a 32-byte digest: r, s and the recovery bit. Rejects with `SignerRefusedError` when the signer's policy refuses
   * the content.
   */
  sign(
    digest: Uint8Array,
    content: Signable,
  ): Promise<{ readonly r: bigint; readonly s: bigint; readonly yParity: 0 | 1 }>;
}

/**
 * The answer of an endpoint to a broadcast. Anything unclear rejects with `ChainUnavailableError`: the transaction may
 * have spread.
 */
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

/** A mined transaction, as its sender's books see it. */
export interface SentTransaction {
  readonly hash: string;
  readonly from: string;
  readonly nonce: number;
  readonly block: BlockId;
  /** The gas cost, in the smallest unit of the coin. */
  readonly coinSpent: bigint;
}

/** A transfer to an account of ours. */
export interface Incoming {
  readonly block: BlockId;
  readonly transactionHash: string;
  /** Negative for coin, which leaves no log. */
  readonly logIndex: number;
  /** CAIP-19. */
  readonly asset: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/** An event of one of our contracts. Anybody can cause look-alikes: only a stored commitment counts. */
export type ChainEvent = {
  readonly block: BlockId;
  readonly transactionHash: string;
  readonly logIndex: number;
  /** The address of the release that reported it. */
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
  /** Money was swept from the deposit address of the commitment. It proves this amount, and no payment. */
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
