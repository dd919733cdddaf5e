import { inverse, multiply, parsePrice, type Ratio, type Reading } from '../domain/rate.ts';
import type { Rates } from './rates.ts';

/**
 * Made-up rates for play money, the same every day, so that a sandbox works offline and its amounts can be told
 * beforehand. Every quote made with them says where they come from.
 */
export function sandboxRates(): Rates {
  return {
    rateOf(base, quote, nowMs) {
      const [first, second] = [legOf(base, nowMs), legOf(quote, nowMs)];
      if (first === undefined || second === undefined || base === quote) return undefined;
      return {
        base,
        quote,
        value: multiply(first.value, inverse(second.value)),
        readings: [...first.readings, ...second.readings],
      };
    },
  };
}

const SOURCE = 'sandbox table';

/** What one of each costs in dollars. */
const DOLLARS: ReadonlyMap<string, string> = new Map([
  ['ETH', '2500'],
  ['BNB', '600'],
  ['POL', '0.5'],
  ['SOL', '150'],
  ['CELO', '0.4'],
  ['MON', '0.1'],
  ['EUR', '1.1'],
  ['GBP', '1.3'],
  ['CHF', '1.15'],
  ['JPY', '0.0068'],
  ['AUD', '0.66'],
  ['CAD', '0.73'],
  ['BRL', '0.19'],
  ['MXN', '0.055'],
  ['INR', '0.012'],
  ['SGD', '0.76'],
  ['HKD', '0.128'],
  ['TRY', '0.03'],
]);

function legOf(symbol: string, atMs: number): { value: Ratio; readings: readonly Reading[] } | undefined {
  if (symbol === 'USD') return { value: { numerator: 1n, denominator: 1n }, readings: [] };
  const price = DOLLARS.get(symbol);
  const value = price === undefined ? undefined : parsePrice(price);
  if (price === undefined || value === undefined) return undefined;
  return { value, readings: [{ source: SOURCE, base: symbol, quote: 'USD', price, atMs }] };
}
