import type { Item, PayMethod } from '../domain/item.ts';
import type { Step } from '../domain/option.ts';
import type { Network } from './network.ts';
import type { RefusalReason } from './refusal-reason.ts';

/**
 * The port for the payer's side: balances and allowances, the terms and actions that the wallet signs, and the judgement of the
 * wallet's results.
 */
export interface PayerSide {
  readonly network: Network;

  /**
   * The address of the Collector release that new items are made for. Undefined while the network has none. Items made for older
   * releases are still executed and reported.
   */
  collector(): string | undefined;
  /** The address of the contract that new deposit addresses are derived from. Undefined while the network has none. */
  depositContract(): string | undefined;
  /** The payment method of the asset. For an asset that nobody can pay with now, the usual method for tokens. */
  methodOf(asset: string): PayMethod;
  /** The commitment: the hash of the whole item. The payer's signature covers it, or the deposit address is derived from it. */
  commitmentOf(item: Item): string;
  /** The terms that the seal of an item authenticates, as one text: everything that the commitment covers except the subject. */
  sealedTerms(item: Omit<Item, 'subject' | 'seal'>): string;
  /** The deposit address of an item by deposit. The address does not depend on the payer. */
  depositAddressOf(item: Item): string;
  /** The steps of the payer's wallet for an amount of an asset, in order. */
  walletSteps(cost: { readonly asset: string; readonly amount: bigint }, allowance: bigint): readonly Step[];
  /** The actions of the payer's wallet for the item: one for each step. */
  walletActions(item: Item, allowance: bigint): readonly WalletAction[];
  /** Reads everything that the options of one request need from this chain, in one round trip. */
  survey(ask: SurveyAsk): Promise<Survey>;
  /**
   * The outcome if the item were executed now with this signature. If a sender is given, that account sends the transaction.
   * `onUnproved` is called before the chain is asked about a signature that the account's key did not make, and before a second
   * endpoint is asked about the refusal of one that it made. Strangers can cause both, so the caller limits them: it may throw.
   */
  judge(item: Item, signature: string, sender?: string, onUnproved?: () => void): Promise<Verdict>;
  /**
   * True if an endpoint shows this transaction, pending or mined, as the payer's own payment of the item in coin: from the payer,
   * to the Collector, with the amount and calldata of the wallet action. False for a reverted transaction. Endpoints may lie and
   * transactions may be replaced. So `true` is a reason to wait for the event, and does not prove the payment.
   */
  isPaymentShown(item: Item, hash: string): Promise<boolean>;
}

export interface WalletAction {
  /** The name by which wallets of the family know the request. */
  readonly method: string;
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
  /** The assets that cannot be received by their recipient. */
  readonly unreceivable: readonly string[];
  /** The assets whose contract did not behave like a token, with the reason. These assets have no holdings. */
  readonly faults: readonly { readonly asset: string; readonly problem: string }[];
}

export interface Holding {
  readonly payer: string;
  readonly asset: string;
  readonly balance: bigint;
  /**
   * The payer's allowance for the spender that the payment method needs, in units of the asset. Zero for methods without an allowance.
   */
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
