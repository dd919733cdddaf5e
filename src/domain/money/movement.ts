/**
 * Movements: the transfers on chain from or to places of ours. Amounts come from these transfers (legs) alone. The events of our
 * contracts explain the legs of their transaction, and add no amount of their own.
 */

/** A point in the history of a chain. `compareMoments` gives the movements and events of all networks one order. */
export interface Moment {
  /** A CAIP-2 id. */
  readonly network: string;
  /** The time of the block in Unix seconds. */
  readonly blockTimeS: number;
  readonly block: number;
  /** The index of the log within its block. */
  readonly index: number;
}

/** The order is block time, network, block, index. It does not depend on the order in which blocks were read. */
export function compareMoments(a: Moment, b: Moment): number {
  if (a.blockTimeS !== b.blockTimeS) return a.blockTimeS - b.blockTimeS;
  if (a.network !== b.network) return a.network < b.network ? -1 : 1;
  return a.block - b.block || a.index - b.index;
}

/**
 * A place is an address of ours that can hold money: a deposit address, an intermediate account or a relayer. An account that
 * was ever used stays a place. An address is the same place on every network.
 */
export type PlaceKind = 'deposit' | 'intermediate' | 'relayer';

/** One leg of a transaction: a transfer of an asset between two addresses, of which at least one is a place of ours. */
export interface Movement extends Moment {
  readonly transaction: string;
  /** A CAIP-19 id. */
  readonly asset: string;
  /** Addresses are in the canonical spelling of their network. */
  readonly from: string;
  readonly to: string;
  readonly amount: bigint;
  readonly fromPlace: PlaceKind | null;
  readonly toPlace: PlaceKind | null;
}

export interface Collected extends Moment {
  readonly event: 'collected';
  readonly transaction: string;
  readonly collector: string;
  readonly commitment: string;
  /** The subject as the chain shows it. Anybody can copy a subject, so no decision depends on it. */
  readonly subject: string;
  /** The method by which the money was pulled. The Collector accepts a commitment once per method. */
  readonly kind: 'key' | 'wallet' | 'permit2' | 'native';
  readonly payer: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly recipient: string;
  readonly feeAccount: string;
  readonly deadlineS: number;
}

/** The event of a sweep of a deposit address. It shows every term that the commitment of the address covers. */
export interface Swept extends Moment {
  readonly event: 'swept';
  readonly transaction: string;
  readonly address: string;
  readonly commitment: string;
  readonly subject: string;
  readonly asset: string;
  /** The address of the token in which the payment was requested, without its network. */
  readonly askedToken: string;
  readonly askedAmount: bigint;
  readonly askedFee: bigint;
  readonly amount: bigint;
  readonly fee: bigint;
  readonly recipient: string;
  readonly feeAccount: string;
}

export type MoneyEvent = Collected | Swept;

/** One transaction on chain, as far as it concerns places of ours. Legs and events are in the order of their indexes. */
export interface Mined {
  readonly legs: readonly Movement[];
  readonly events: readonly MoneyEvent[];
}
