import type { Item, SignedItem } from '../domain/item.ts';
import type { FinalityTag, Network } from './networks.ts';

/**
 * What the gateway needs of a chain. An adapter reports, it never decides a payment.
 *
 * Every answer is three-valued. A method that resolves has found out; when it could not (an endpoint is down, lies, or
 * lags behind), it rejects with `ChainUnavailableError`. "Could not find out" can therefore never be taken for "no".
 */
export interface Chain {
  readonly network: Network;

  /** Holds what we believe of the network against the chain itself. Assets that differ are not offered any more. */
  check(): Promise<ChainCheck>;
  /** What is known of its endpoints right now, without asking them. */
  health(): ChainHealth;

  /** The hash that stands for all of the item; what the payer signs carries it. */
  commitmentOf(item: Item): string;
  /** What the payer's wallet has to do for the item, in order. */
  walletActions(item: Item, allowance: bigint): readonly WalletAction[];

  /** Everything the options of one request need of this chain, in one round trip. */
  survey(ask: SurveyAsk): Promise<Survey>;
  /** Whether the chain would carry the item out now with this signature. */
  judge(item: Item, signature: string): Promise<Verdict>;

  /** What would become of each item if the batch were sent now, or had been at that block. */
  simulate(batch: readonly SignedItem[], atBlock?: number): Promise<readonly ItemOutcome[]>;
  /** Whether the authorization with this commitment has been used up: by us, by somebody else, or by being cancelled. */
  isUsed(item: Item, commitment: string, atBlock?: number): Promise<boolean>;

  /** The signature with which an account whose key we have pays the item. */
  signItem(signer: Signer, item: Item): Promise<string>;

  /** The most items of this kind that fit into one transaction. */
  maxBatchItems(item: Item): number;
  /** The next free nonce as the chain sees it, mined transactions only. */
  minedNonce(signer: string): Promise<number>;
  /** Of the native coin; now, or at that block. */
  balance(account: string, atBlock?: number): Promise<bigint>;
  /** What an account holds of an asset at that block. */
  holding(account: string, asset: string, atBlock: number): Promise<bigint>;
  suggestFees(): Promise<Fees>;
  /** Signs; sends nothing. All items of a batch share asset, method and fee account; in coin it is the signer's own one. */
  signBatch(signer: Signer, batch: readonly SignedItem[], slot: Slot): Promise<SignedTransaction>;
  /** Signs a transaction that does nothing but use up its nonce. */
  signNothing(signer: Signer, slot: Slot): Promise<SignedTransaction>;
  broadcast(bytes: string): Promise<BroadcastOutcome>;
  /** What the chain knows of a transaction. */
  findTransaction(hash: string): Promise<TransactionState>;

  head(): Promise<Block>;
  /** The canonical block of that height; undefined when the chain is not that long. */
  block(number: number): Promise<Block | undefined>;
  /** What the Collector reported in these blocks, in order. Bounds are inclusive. A log that cannot be read is left out. */
  events(fromBlock: number, toBlock: number, onUnreadable?: OnUnreadable): Promise<readonly ChainEvent[]>;
  /** Known tokens that reached one of these accounts in these blocks otherwise than through the Collector, in order. */
  incoming(
    accounts: readonly string[],
    fromBlock: number,
    toBlock: number,
    onUnreadable?: OnUnreadable,
  ): Promise<readonly Incoming[]>;
  /** Coin that transactions of that block brought to one of these accounts; what contracts sent is not among it. */
  coinTransfers(accounts: readonly string[], block: number): Promise<readonly Incoming[]>;
  /** The transfer of native coin that a transaction is, once it is mined; undefined when it is none, or has failed. */
  coinTransfer(hash: string): Promise<Incoming | undefined>;
  /** The endpoints one by one, for facts that more than one must give. Those that can be relied on most come first. */
  witnesses(): readonly Witness[];

  close(): void;
}

/**
 * One endpoint of a chain, asked alone. It only reports: whether enough of them say the same is for others to judge. Every
 * method rejects with `ChainUnavailableError` when the endpoint gave no answer.
 */
export interface Witness {
  /** Its place in the configuration, as in "endpoint 1", and never its address. */
  readonly name: string;
  /** For how long it has given no answer, or has lagged behind the chain's own time; 0 while it does neither. */
  silentForMs(): number;
  /** Two others have contradicted it: for a while it is relied on less than all others. */
  distrust(): void;
  head(): Promise<Block>;
  /** The block of that height, or the newest of that finality; undefined when its chain is not that long. */
  block(which: number | FinalityTag): Promise<Block | undefined>;
  isUsed(item: Item, commitment: string, atBlock: number): Promise<boolean>;
  /** What the transaction's own receipt says; undefined while the endpoint has none. */
  receipt(hash: string): Promise<Receipt | undefined>;
  /** Known tokens that the transaction moved, and the coin it brought itself; none while the endpoint has no receipt. */
  transfers(hash: string): Promise<readonly Incoming[]>;
  /** Like the chain's own method, as this endpoint has it. */
  events(fromBlock: number, toBlock: number): Promise<readonly ChainEvent[]>;
}

/** A mined transaction, as far as payments are concerned. */
export interface Receipt {
  readonly block: BlockId;
  readonly isReverted: boolean;
  /** What the Collector reported in it. */
  readonly events: readonly ChainEvent[];
}

/** Told of each log that cannot be read. */
export type OnUnreadable = (log: UnreadableLog) => void;

export interface UnreadableLog {
  /** Where it stands; undefined where not even that can be read. */
  readonly place: { readonly block: number; readonly transactionHash: string; readonly logIndex: number } | undefined;
  readonly reason: string;
}

/** The chain could not be asked. The message never holds an endpoint's address or what it sent. */
export class ChainUnavailableError extends Error {
  readonly network: string;
  constructor(network: string, reason: string) {
    super(`${network}: ${reason}`);
    this.name = 'ChainUnavailableError';
    this.network = network;
  }
}

/**
 * Every endpoint that was asked has answered, and none with something that can be read: a token that is not there, or a
 * contract of another kind. Asking again will not help, so what was asked about is set aside.
 */
export class UnreadableAnswerError extends ChainUnavailableError {
  constructor(network: string, reason: string) {
    super(network, reason);
    this.name = 'UnreadableAnswerError';
  }
}

export interface ChainCheck {
  /** CAIP-19 ids that can be paid with. */
  readonly payable: readonly string[];
  /** What is wrong, in sentences for the operator; each names the asset or part that is switched off by it. */
  readonly problems: readonly string[];
}

export interface ChainHealth {
  readonly endpoints: number;
  readonly endpointsUp: number;
  /** The highest block any endpoint has told of. */
  readonly headNumber: number | undefined;
  /** What is wrong with which endpoint, in words without its address. */
  readonly troubles: readonly string[];
}

/** A request to the payer's wallet. */
export interface WalletAction {
  readonly method: 'eth_signTypedData_v4' | 'eth_sendTransaction';
  readonly params: readonly unknown[];
}

export interface SurveyAsk {
  /** Canonical addresses of who might pay. */
  readonly payers: readonly string[];
  /** What might be paid with, and who would receive it. */
  readonly assets: readonly { readonly asset: string; readonly recipient: string }[];
  readonly timeoutMs: number;
}

export interface Survey {
  /** One for each payer and asset. */
  readonly holdings: readonly Holding[];
  /** The assets whose recipient could not receive them. */
  readonly unreceivable: readonly string[];
  /** Assets whose contract gave answers that cannot be read, and why; they are not among the holdings. */
  readonly unreadable: readonly { readonly asset: string; readonly reason: string }[];
}

export interface Holding {
  readonly payer: string;
  readonly asset: string;
  readonly balance: bigint;
  /** What Permit2 may take; irrelevant for other methods, and then zero. */
  readonly allowance: bigint;
  /** The token itself refuses transfers of this account. */
  readonly isRefused: boolean;
}

export type Verdict =
  | { readonly is: 'good'; readonly hasCode: boolean }
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

/** Where a transaction stands in its signer's order, and what it offers for being taken in. */
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

/** Signs transactions, and items of accounts of ours. The key may be here or with an external signer; nothing else ever sees it. */
export interface Signer {
  readonly address: string;
  /** Of a 32-byte digest: r, s and the recovery bit. */
  sign(digest: Uint8Array): Promise<{ readonly r: bigint; readonly s: bigint; readonly yParity: 0 | 1 }>;
}

/** What an endpoint said to a broadcast. Anything unclear is a rejection with `ChainUnavailableError`: it may be out. */
export type BroadcastOutcome =
  | 'accepted'
  /** It was there already. */
  | 'known'
  | 'nonce_too_low'
  | 'nonce_too_high'
  /** A replacement must offer more. */
  | 'underpriced'
  | 'short_balance';

export type TransactionState =
  | { readonly is: 'unknown' }
  | { readonly is: 'pending' }
  | {
      readonly is: 'mined';
      readonly block: BlockId;
      readonly isReverted: boolean;
      readonly gasSpent: bigint;
      /** What its sender paid for that, in the smallest unit of the coin. */
      readonly coinSpent: bigint;
    };

export interface BlockId {
  readonly number: number;
  readonly hash: string;
}

export interface Block extends BlockId {
  readonly parentHash: string;
  readonly timestampS: number;
}

/** A transfer to an account of ours. */
export interface Incoming {
  readonly block: BlockId;
  readonly transactionHash: string;
  /** Below zero for coin, of which no log tells. */
  readonly logIndex: number;
  /** CAIP-19. */
  readonly asset: string;
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
}

/** What the Collector reported. Anybody can make it report look-alikes: only a commitment that is stored says anything. */
export type ChainEvent = {
  readonly block: BlockId;
  readonly transactionHash: string;
  readonly logIndex: number;
  readonly commitment: string;
} & (
  | {
      readonly type: 'paid';
      /** 16 bytes in hex. */
      readonly subject: string;
      readonly payer: string;
      /** CAIP-19. */
      readonly asset: string;
      readonly amount: bigint;
      readonly fee: bigint;
      readonly recipient: string;
    }
  | { readonly type: 'refused'; readonly reason: RefusalReason }
);
