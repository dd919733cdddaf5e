import type { Blacklist, FinalityTag } from './network.ts';

/** Facts that a chain shows about itself and its tokens, for the record of a network that Till does not know yet. */

/** `missing`: the chain has answered that there is none. `unknown`: no usable answer, so it may be there. */
export type Found<T> =
  | { readonly is: 'found'; readonly value: T }
  | { readonly is: 'missing' }
  | { readonly is: 'unknown'; readonly reason: string };

export interface ExaminedNetwork {
  /** CAIP-2. */
  readonly chainId: string;
  readonly head: number;
  readonly blockTime: Found<BlockTime>;
  readonly tags: Readonly<Record<FinalityTag, Found<true>>>;
  readonly permit2: Found<true>;
  /** The address of the newest release that is deployed. The same for `depositContract`. */
  readonly collector: Found<string>;
  readonly depositContract: Found<string>;
}

export interface BlockTime {
  readonly blockTimeMs: number;
  /** The number of blocks over which the time was measured. */
  readonly blocks: number;
}

export interface ExaminedToken {
  /** Spelled with its checksum. */
  readonly address: string;
  readonly decimals: number;
  readonly symbol: string;
  /** Missing where the contract has no name that can be shown. */
  readonly name: Found<string>;
  readonly domain: Found<ExaminedDomain>;
  readonly authorizations: Found<'eip3009-bytes' | 'eip3009-vrs'>;
  readonly blacklist: Found<Blacklist>;
}

export interface ExaminedDomain {
  readonly name: string;
  readonly version: string;
  /** `separator`: this name and version give the token's `DOMAIN_SEPARATOR()`. */
  readonly by: 'eip5267' | 'separator';
}
