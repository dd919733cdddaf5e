import type { Pair, QuotedRate, Rate } from '../domain/rate.ts';

/** Exchange rates, answered from memory, so that no request waits for a rate source. */
export interface Rates {
  /** The price of one `base` in `quote`. Undefined when it is not certain. There is no default. */
  rateOf(base: string, quote: string, nowMs: number): Rate | undefined;
  /**
   * True if a quote of the last minutes can have used this rate. Nodes read the sources at different moments, so a rate
   * close to one that was in force here counts as well.
   */
  wasInForce(rate: QuotedRate, nowMs: number): boolean;
  /** True if there are sources for it, whatever their present answers: without any there will never be a rate. */
  covers(base: string, quote: string): boolean;
}

/** Without sources only options at par can be offered. */
export const NO_RATES: Rates = { rateOf: () => undefined, wasInForce: () => false, covers: () => false };

/** A source of prices. */
export interface RateSource {
  /** Recorded with every quote it took part in. */
  readonly name: string;
  readonly pairs: readonly Pair[];
  /** The price as the source spells it. Fails with a `RateSourceError`, also when the signal aborts. */
  read(pair: Pair, signal: AbortSignal): Promise<string>;
}

/** A source could not be used. The message completes "kraken …" and contains neither its address nor its answer. */
export class RateSourceError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'RateSourceError';
  }
}
