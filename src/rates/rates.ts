import type { Pair, QuotedRate, Rate } from '../domain/rate.ts';

/** Exchange rates, answered from memory, so that no request waits for a rate source. */
export interface Rates {
  /** The price of one `base` in `quote`. Undefined if the sources do not agree: there is no default rate. */
  rateOf(base: string, quote: string, nowMs: number): Rate | undefined;
  /**
   * True if a quote of the last minutes can have used this rate. Nodes read the sources at different moments, so a rate
   * close to one that was in force here counts as well.
   */
  wasInForce(rate: QuotedRate, nowMs: number): boolean;
  /** True if the pair has sources, whatever their present answers. Without sources it will never have a rate. */
  covers(base: string, quote: string): boolean;
}

/** Without sources, only options at par can be offered. */
export const NO_RATES: Rates = { rateOf: () => undefined, wasInForce: () => false, covers: () => false };

export interface RateSource {
  /** Stored with every quote that uses the source. */
  readonly name: string;
  readonly pairs: readonly Pair[];
  /** The price as the source spells it. Throws a `RateSourceError`, also when the signal aborts. */
  read(pair: Pair, signal: AbortSignal): Promise<string>;
}

/** A source could not be used. The message completes "kraken …" and contains neither the source's URL nor its answer. */
export class RateSourceError extends Error {
  override readonly name = 'RateSourceError';
}
