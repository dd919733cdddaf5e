import type { Mode } from '../domain/mode.ts';

/** A chain known to Till. Each is a file of `networks/`, or of the operator's folder; `records/` reads them. */
export interface Network {
  /** A CAIP-2 id. */
  readonly chainId: string;
  readonly name: string;
  /** Test networks have worthless money, so live keys may not name their assets. */
  readonly mode: Mode;
  /** The coin that pays for gas. */
  readonly coin: Coin;
  /** The assets by CAIP-19 id. If prices may be in the native coin, the coin is the first of them. */
  readonly assets: ReadonlyMap<string, KnownAsset>;
  /** The beginning of the block explorer's URL for a transaction. The transaction hash follows it. */
  readonly explorer?: string;
  /** The rules for the finality of a payment. Undefined where Till cannot accept payments yet. */
  readonly finality?: Finality;
  /** True if the only endpoint is our own process. It has no reason to lie, so no second endpoint has to confirm its answers. */
  readonly isTrustedAlone?: true;
  /** The lowest tip per unit of gas that block builders accept, in the smallest unit of the coin. Undefined without a minimum. */
  readonly minTip?: bigint;
  /** The highest tip per unit of gas, whatever endpoints report. The default is in `evm/fees.ts`. */
  readonly maxTip?: bigint;
  /** The highest price per unit of gas, if the operator has set none. Default: `settings/chains.ts`. */
  readonly gasPriceCap?: bigint;
  /** The most that gas may cost within an hour, if the operator has set no limit. Default: `settings/chains.ts`. */
  readonly gasCostPerHour?: bigint;
  /**
   * File, line and column of two kinds of facts in the record, for messages: the network's id (by CAIP-2 id), and each token's
   * decimals (by CAIP-19 id).
   */
  readonly places?: ReadonlyMap<string, string>;
  /** True if none of the network's assets is offered to payers any more. Payments and transfers under way go on. */
  readonly isRetired?: true;
  /** True if the gas limit must also cover the transaction's data on Ethereum, at a variable price. */
  readonly gasPaysForData?: true;
}

export interface Coin {
  /** CAIP-19. Payers can pay with the coin only if it is also in `assets`. */
  readonly id: string;
  readonly symbol: string;
  readonly decimals: number;
}

export interface Finality {
  readonly blockTimeMs: number;
  /** The number of blocks from a payment's block to the head, including both. With 1, a payment in the newest block is final. */
  readonly depth: number;
  /** The reason why this depth is enough. */
  readonly reason: string;
  /** The finality tags that the network's nodes support. */
  readonly tags?: readonly FinalityTag[];
  readonly tiers?: readonly FinalityTier[];
  /** The highest weight (`weight.ts`) for which one endpoint is enough, at three times the depth. Default: `finality.ts`. */
  readonly loneCeiling?: bigint;
}

/** The finality of payments of this weight (`weight.ts`) and above. */
export interface FinalityTier {
  readonly from: bigint;
  readonly depth?: number;
  readonly tag?: FinalityTag;
}

/** The block tags of nodes: the newest block that the network considers safe, or irreversible. */
export const FINALITY_TAGS = ['safe', 'finalized'] as const;
export type FinalityTag = (typeof FINALITY_TAGS)[number];

export interface KnownAsset {
  /** A CAIP-19 id in canonical spelling. */
  readonly id: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** The decimals to which a quote is rounded up: 2 for tokens at par; for coins, so many that one step is worth less than a cent. */
  readonly quoteDecimals: number;
  /** The currency that the token is pegged to, one to one. */
  readonly peg?: string;
  /** The symbol whose rate the token has, such as ETH for WETH. */
  readonly ratedAs?: string;
  /** An upper bound for the value of a whole token, in units of a currency. Undefined for pegged tokens. */
  readonly worthAtMost?: bigint;
  /** The payment method. Undefined for an asset that is only a price or a destination. */
  readonly pay?: PayTerms;
  /** The token's function that returns whether an account is blacklisted, if it has one. */
  readonly blacklist?: Blacklist;
  /**
   * True if the asset or its network is retired, so that it is not offered to payers. `pay` stays set, because refunds, sweeps
   * and late money still need it.
   */
  readonly isRetired?: true;
}

/** An asset that payers may be offered. */
export type OfferedAsset = KnownAsset & Required<Pick<KnownAsset, 'pay'>>;

export function isOffered(asset: KnownAsset): asset is OfferedAsset {
  return asset.pay !== undefined && !asset.isRetired;
}

export type Blacklist = 'isBlacklisted' | 'isBlackListed' | 'isFrozen' | 'isAccountFrozen' | 'isBlocked';

export type PayTerms =
  | {
      readonly method: 'eip3009-vrs' | 'eip3009-bytes';
      /** The token's EIP-712 domain, part of every signature. */
      readonly domain: { readonly name: string; readonly version: string };
    }
  | {
      readonly method: 'permit2';
      /** Tether's token refuses to change an allowance that is not zero, so the wallet must set the allowance to zero first. */
      readonly approvesThroughZero?: true;
    }
  | { readonly method: 'native' };
