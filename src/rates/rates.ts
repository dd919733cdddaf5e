import type { Pair, QuotedRate, Rate } from '../domain/rate.ts';

/** Exchange rates, answered from memory, so that no request waits for a rate source. */
export interface Rates {
  /** The price of one `base` in `quote`. Undefined if the sources do not agree: there is no default rate. */
  rateOf(base: string, quote: string, nowMs: number): Rate | undefined;
  /**
   * True if a quote of the last minutes can have used this rate. Nodes read the sources at different moments, so a rate
   * close to one that was in force on this node counts as well.
   */
  wasInForce(rate: QuotedRate, nowMs: number): boolean;
  /** True if the pair has sources, or can be crossed from pairs with sources. Otherwise the pair never has a rate. */
  covers(base: string, quote: string): boolean;
}

/** The rates of a gateway without sources, which offers only options at par. */
export const NO_RATES: Rates = { rateOf: () => undefined, wasInForce: () => false, covers: () => false };

/** A live source is a market or follows markets. A reference rate is published once a working day. */
export type SourceKind = 'live' | 'reference';

/** How often a source is asked, and how long its answer is valid, from the moment of the request. */
export interface SourceTerms {
  readonly kind: SourceKind;
  readonly everyMs: number;
  readonly validMs: number;
}

/** The terms of live sources. Three readings in a row may fail before a price is too old. */
export const LIVE: SourceTerms = { kind: 'live', everyMs: 15_000, validMs: 60_000 };

export interface RateSource extends SourceTerms {
  /** The name of the source. It is stored with every quote that uses the source. */
  readonly name: string;
  readonly requests: readonly SourceRequest[];
}

/** A request to a source, which answers for one pair or for many. */
export interface SourceRequest {
  readonly pairs: readonly Pair[];
  /** Resolves with one answer for each pair. Throws a `RateSourceError` if the whole answer cannot be used, or the signal aborts. */
  read(signal: AbortSignal): Promise<readonly PairAnswer[]>;
}

/** The price in the decimal text of the source, or the reason why there is none. In messages, the reason follows the source's name. */
export type PairAnswer = Pair & (PairPrice | { readonly fault: string });

export interface PairPrice {
  readonly price: string;
  /** The time that the source states for its price. Undefined if it states none. */
  readonly statedAtMs?: number | undefined;
}

/** A source could not be used. The message follows the source's name, as in "kraken could not be reached". It has no URL or answer. */
export class RateSourceError extends Error {
  override readonly name = 'RateSourceError';
}
