import type { Parsed } from '../domain/parsed.ts';
import type { Pair } from '../domain/rate.ts';
import { parsePointer } from './json.ts';
import { keyOf } from './rate-book.ts';

/** A source that answers over HTTP with JSON, as the operator configured it. */
export interface HttpSourceTerms {
  readonly name: string;
  readonly requests: readonly RateRequest[];
}

export interface RateRequest extends Pair {
  readonly url: string;
  readonly path: readonly string[];
}

/**
 * The largest number of sources. There is a bound, because all sources may take part in a quote, and option ids contain the names of
 * a quote's sources.
 */
const MAX_SOURCES = 8;
const MAX_PAIRS = 64;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Reads `RATE_SOURCES`: one source on each line, or several on one line with `;` between them. A source has a name, a URL with the
 * JSON Pointer of the price in the answer after `#`, and its pairs. `{base}` and `{quote}` in the URL stand for the two symbols of
 * a pair, in the source's own spelling if one is given after `=`:
 *
 *     coinbase https://api.coinbase.com/v2/prices/{base}-{quote}/spot#/data/amount ETH/USD EUR/USD
 *     binance https://api.binance.com/api/v3/ticker/price?symbol={base}{quote}#/price ETH/USD=ETH/USDT EUR/USD=EUR/USDT
 *
 * A problem names a source by its name or its position in the list. It never repeats a URL, which may contain an API key.
 */
export function parseRateSources(text: string): Parsed<readonly HttpSourceTerms[]> {
  const lines = text
    .split(/[;\n]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (lines.length > MAX_SOURCES) return refuse(`lists more than ${MAX_SOURCES} sources`);

  const sources: HttpSourceTerms[] = [];
  for (const [index, line] of lines.entries()) {
    const source = parseSource(line, index + 1);
    if (!source.ok) return source;
    sources.push(source.value);
  }
  const problem = problemOfAll(sources);
  return problem === undefined ? accept(sources) : refuse(problem);
}

/**
 * Finds a problem of the sources together: two have the same name or host, or a pair has only one source. A rate needs two sources
 * that agree.
 */
function problemOfAll(sources: readonly HttpSourceTerms[]): string | undefined {
  const twice = repeated(sources.map(({ name }) => name));
  if (twice !== undefined) return `names ${twice} twice`;

  const hosts = sources.map(({ requests }) => new URL(requests[0]?.url ?? '').host);
  const copy = hosts.findIndex((host, index) => hosts.indexOf(host) !== index);
  if (copy >= 0) return `has ${sources[copy]?.name} ask the same host as another source; they would always agree`;

  const askedFor = sources.flatMap(({ requests }) => requests.map(keyOf));
  const lonely = askedFor.find((key, index) => askedFor.indexOf(key) === index && !askedFor.includes(key, index + 1));
  return lonely === undefined ? undefined : `has one source alone for ${lonely}; a rate takes two that agree`;
}

function parseSource(line: string, place: number): Parsed<HttpSourceTerms> {
  const [name = '', address = '', ...pairs] = line.split(/\s+/);
  if (!/^[a-z0-9][a-z0-9-]{0,15}$/.test(name)) {
    return refuse(`must begin source ${place} with a name of at most 16 small letters, digits and hyphens`);
  }
  if (address === '' || pairs.length === 0) {
    return refuse(`must give ${name} a URL and then pairs such as ETH/USD`);
  }
  if (pairs.length > MAX_PAIRS) return refuse(`gives ${name} more than ${MAX_PAIRS} pairs`);

  const requests: RateRequest[] = [];
  for (const pair of pairs) {
    const request = parseRequest(address, pair);
    if (!request.ok) return refuse(`${request.problem} for ${name}`);
    requests.push(request.value);
  }
  const twice = repeated(requests.map(keyOf));
  if (twice !== undefined) return refuse(`lists ${twice} twice for ${name}`);
  if (repeated(requests.map(({ url, path }) => JSON.stringify([url, path]))) !== undefined) {
    return refuse(`asks the same for two pairs of ${name}; {base} and {quote} must distinguish them`);
  }
  return accept({ name, requests });
}

const PAIR_FORM = /^([A-Z0-9]{2,8})\/([A-Z0-9]{2,8})(?:=([A-Za-z0-9._-]{1,32})\/([A-Za-z0-9._-]{1,32}))?$/;

function parseRequest(address: string, text: string): Parsed<RateRequest> {
  const [, base = '', quote = '', baseThere = base, quoteThere = quote] = PAIR_FORM.exec(text) ?? [];
  if (base === quote) return refuse('must list pairs such as ETH/USD, or ETH/USD=ETH/USDT in the spelling there,');

  // Spellings consist of letters, digits, dots, hyphens and underscores, so URLs and pointers need no escaping.
  const filled = address.replaceAll('{base}', baseThere).replaceAll('{quote}', quoteThere);
  const [location = '', fragment = ''] = split(filled);
  const url = URL.parse(location);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.has(url.hostname));
  if (url === null || !isSafe || url.username !== '' || url.password !== '' || /[{}]/.test(location)) {
    return refuse('must give an https URL without credentials, with no braces but {base} and {quote},');
  }
  const path = parsePointer(fragment);
  if (path === undefined) {
    return refuse('must say after # where the price stands, as a JSON Pointer such as /data/amount,');
  }
  return accept({ base, quote, url: url.href, path });
}

function split(address: string): readonly string[] {
  const at = address.indexOf('#');
  return at < 0 ? [address] : [address.slice(0, at), address.slice(at + 1)];
}

function repeated(names: readonly string[]): string | undefined {
  return names.find((name, index) => names.indexOf(name) !== index);
}

const accept = <T>(value: T): Parsed<T> => ({ ok: true, value });
const refuse = (problem: string): Parsed<never> => ({ ok: false, problem });
