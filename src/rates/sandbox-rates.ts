import { compare, inverse, multiply, parsePrice, type Rate, type Ratio, type Reading } from '../domain/rate.ts';
import type { Rates } from './rates.ts';

/** Fixed rates, so that a sandbox works offline and its amounts are predictable. Quotes name this table as their source. */
export function sandboxRates(): Rates {
  const isListed = (symbol: string) => symbol === 'USD' || DOLLARS.has(symbol);
  const rateOf = (base: string, quote: string, nowMs: number): Rate | undefined => {
    const [first, second] = [legOf(base, nowMs), legOf(quote, nowMs)];
    if (first === undefined || second === undefined || base === quote) return undefined;
    return {
      base,
      quote,
      value: multiply(first.value, inverse(second.value)),
      readings: [...first.readings, ...second.readings],
    };
  };
  return {
    rateOf,
    covers: (base, quote) => base !== quote && isListed(base) && isListed(quote),
    wasInForce({ base, quote, value }, nowMs) {
      const fixed = rateOf(base, quote, nowMs);
      return fixed !== undefined && compare(fixed.value, value) === 0;
    },
  };
}

const SOURCE = 'sandbox table';

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
  ['AED', '0.272'],
  ['ARS', '0.001'],
  ['BDT', '0.0083'],
  ['BHD', '2.65'],
  ['CLP', '0.001'],
  ['CNY', '0.14'],
  ['COP', '0.00025'],
  ['CRC', '0.002'],
  ['CZK', '0.044'],
  ['DKK', '0.147'],
  ['EGP', '0.02'],
  ['GHS', '0.08'],
  ['HUF', '0.0028'],
  ['IDR', '0.000062'],
  ['ILS', '0.27'],
  ['ISK', '0.0072'],
  ['JOD', '1.41'],
  ['KES', '0.0077'],
  ['KRW', '0.00072'],
  ['KWD', '3.25'],
  ['MAD', '0.1'],
  ['MYR', '0.22'],
  ['NGN', '0.00065'],
  ['NOK', '0.095'],
  ['NPR', '0.0075'],
  ['NZD', '0.6'],
  ['OMR', '2.6'],
  ['PEN', '0.27'],
  ['PHP', '0.0175'],
  ['PKR', '0.0036'],
  ['PLN', '0.26'],
  ['RON', '0.22'],
  ['SAR', '0.267'],
  ['SEK', '0.097'],
  ['THB', '0.029'],
  ['TND', '0.32'],
  ['TWD', '0.031'],
  ['UAH', '0.024'],
  ['UYU', '0.024'],
  ['VND', '0.00004'],
  ['ZAR', '0.055'],
]);

function legOf(symbol: string, atMs: number): { value: Ratio; readings: readonly Reading[] } | undefined {
  if (symbol === 'USD') return { value: { numerator: 1n, denominator: 1n }, readings: [] };
  const price = DOLLARS.get(symbol);
  const value = price === undefined ? undefined : parsePrice(price);
  if (price === undefined || value === undefined) return undefined;
  return { value, readings: [{ source: SOURCE, base: symbol, quote: 'USD', price, atMs }] };
}
