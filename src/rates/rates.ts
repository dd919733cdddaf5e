import type { Pair, Rate } from '../domain/rate.ts';

/** Exchange rates, answered from memory: nothing that waits for an answer ever waits for a rate. */
export interface Rates {
  /** What one of `base` costs in `quote`; undefined when that is not known for sure. There is no default. */
  rateOf(base: string, quote: string, nowMs: number): Rate | undefined;
  /** Whether there are sources for it, whatever they say now: without any there will never be a rate. */
  covers(base: string, quote: string): boolean;
}

/** For a gateway without sources: only what needs no rate can be offered. */
export const NO_RATES: Rates = { rateOf: () => undefined, covers: () => false };

/** Where prices come from. */
export interface RateSource {
  /** Recorded with every quote it took part in. */
  readonly name: string;
  readonly pairs: readonly Pair[];
  /** The price as the source spells it. Fails with a `RateSourceError`, also when the signal aborts. */
  read(pair: Pair, signal: AbortSignal): Promise<string>;
}

/** A source could not be used. The message completes "kraken …" and holds neither its address nor what it sent. */
export class RateSourceError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'RateSourceError';
  }
}
