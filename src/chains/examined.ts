import type { Blacklist, FinalityTag } from './network.ts';

/**
 * The types of this file are facts that a chain shows about itself and its tokens, for the record of a network that Till does not
 * know yet.
 */

/**
 * The result of looking for a fact. `missing`: the chain answered that there is no such fact. `unknown`: no endpoint gave a
 * usable answer, so the fact may exist.
 */
export type Found<T> =
  | { readonly is: 'found'; readonly value: T }
  | { readonly is: 'missing' }
  | { readonly is: 'unknown'; readonly reason: string };

export interface ExaminedNetwork {
  /** A CAIP-2 id. */
  readonly chainId: string;
  readonly head: number;
  readonly blockTime: Found<BlockTime>;
  readonly tags: Readonly<Record<FinalityTag, Found<true>>>;
  readonly permit2: Found<true>;
  /** The address of the newest deployed release of the Collector. `depositContract` is the same for the contract that sweeps. */
  readonly collector: Found<string>;
  readonly depositContract: Found<string>;
}

export interface BlockTime {
  readonly blockTimeMs: number;
  /** The number of blocks over which the time was measured. */
  readonly blocks: number;
}

export interface ExaminedToken {
  /** The address of the token, spelled with its checksum. */
  readonly address: string;
  readonly decimals: number;
  readonly symbol: string;
  /** The name of the token. Missing if the contract has no name that can be shown. */
  readonly name: Found<string>;
  readonly domain: Found<ExaminedDomain>;
  readonly authorizations: Found<'eip3009-bytes' | 'eip3009-vrs'>;
  readonly blacklist: Found<Blacklist>;
}

export interface ExaminedDomain {
  readonly name: string;
  readonly version: string;
  /** The proof of the domain. `eip5267`: the token reports it. `separator`: this name and version give the token's `DOMAIN_SEPARATOR()`. */
  readonly by: 'eip5267' | 'separator';
}
