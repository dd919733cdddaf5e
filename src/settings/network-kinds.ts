import type { FinalityTier } from '../chains/network.ts';
import type { Registry } from '../chains/registry.ts';
import { isAddressForm } from '../domain/addresses/families.ts';
import { parseAccount } from '../domain/caip.ts';
import { formatDecimal, parseDecimal, scaledTo } from '../domain/money.ts';
import { type Kind, Problem } from './kinds.ts';

/** A value for every network, for some networks, or both. The value for a network has precedence. */
export interface PerNetwork<T> {
  readonly everywhere: T | undefined;
  readonly on: ReadonlyMap<string, T>;
}

const MAX_ENDPOINTS = 8;
const MAX_RELAYERS = 16;
const MAX_DEPTH = 10_000;
const COIN_DECIMALS = 18;
const GWEI_DECIMALS = 9;
/** The order of secp256k1: private keys are below it. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export function valueOn<T>(setting: PerNetwork<T> | undefined, network: string): T | undefined {
  return setting?.on.get(network) ?? setting?.everywhere;
}

export function rpcUrls(): Kind<ReadonlyMap<string, readonly string[]>> {
  return {
    name: 'endpoints by network, such as `eip155:8453=https://a.example/key,https://b.example eip155:1=https://c.example`',
    parse: (raw, registry) => {
      const read = readEntries(registry, raw, (value) =>
        listOf(value, MAX_ENDPOINTS, 'endpoints', readEndpoint, placeOfUrl),
      );
      if (read instanceof Problem) return read;
      return read.everywhere === undefined ? read.on : new Problem('must name a network before each =');
    },
    secretsOf: (urls) => [...urls.values()].flat().flatMap(secretsOfUrl),
  };
}

/** Private keys, or addresses with an external signer, for every network or for one. */
export function relayerKeys(): Kind<PerNetwork<readonly string[]>> {
  return {
    name: 'private keys, such as `0x…,0x…`, or by network, `eip155:8453=0x…`; or addresses',
    parse: (raw, registry) => readEntries(registry, raw, (value) => listOf(value, MAX_RELAYERS, 'keys', readKey)),
    secretsOf: (keys) => privateKeysIn(keys).flatMap(spellingsOfKey),
  };
}

/** A private key, or an address with an external signer, for every network or for one. */
export function signingKey(): Kind<PerNetwork<string>> {
  return {
    name: 'private key, `0x…`, or by network, `eip155:8453=0x…`; or an address',
    parse: (raw, registry) => readEntries(registry, raw, readKey),
    secretsOf: (key) => privateKeysIn(key).flatMap(spellingsOfKey),
  };
}

export function account(): Kind<PerNetwork<string>> {
  return {
    name: 'address, or by network, `0x… eip155:8453=0x…`',
    parse: (raw, registry) => readEntries(registry, raw, readAddress),
    show: (value) => showEntries(value, (address) => address),
  };
}

/** An amount of a network's own coin, in its smallest unit. */
export function coins(): Kind<PerNetwork<bigint>> {
  return {
    name: 'amount of the own coin, or by network, `0.01 eip155:137=5`',
    parse: (raw, registry) =>
      readEntries(registry, raw, (value) => {
        const amount = /^\d{1,9}(\.\d{1,18})?$/.test(value) ? parseDecimal(value) : undefined;
        return amount === undefined ? new Problem('must be an amount such as 0.05') : scaledTo(amount, COIN_DECIMALS);
      }),
    show: (value) => showEntries(value, (units) => formatDecimal({ units, decimals: COIN_DECIMALS })),
  };
}

/** A gas price in gwei, stored in wei. */
export function gwei(): Kind<PerNetwork<bigint>> {
  return {
    name: 'gwei, or by network, `100 eip155:137=5000`',
    parse: (raw, registry) =>
      readEntries(registry, raw, (value) => {
        const amount = /^\d{1,9}(\.\d{1,9})?$/.test(value) ? parseDecimal(value) : undefined;
        return amount === undefined ? new Problem('must be gwei such as 1.5') : scaledTo(amount, GWEI_DECIMALS);
      }),
    show: (value) => showEntries(value, (units) => formatDecimal({ units, decimals: GWEI_DECIMALS })),
  };
}

export function gas(): Kind<PerNetwork<bigint>> {
  return wholeNumbers('units of gas, or by network, `1500000 eip155:42161=5000000`', 'units of gas');
}

/** Finality depths by network. `eip155:1=6,20@10000` means 6 blocks, and 20 blocks from 10,000 tokens on. */
export function depths(): Kind<PerNetwork<readonly FinalityTier[]>> {
  return {
    name: 'depths by network, such as `eip155:1=6,20@10000,finalized@100000`: 6 blocks; 20 for payments of 10,000 tokens or more; from 100,000 on a block that the network calls finalized',
    parse: (raw, registry) => {
      const read = readEntries(registry, raw, (value, network) =>
        listOf(value, MAX_ENDPOINTS, 'depths', readDepth(registry, network)),
      );
      if (read instanceof Problem) return read;
      return read.everywhere === undefined ? read : new Problem('must name a network before each depth');
    },
    show: (value) =>
      showEntries(value, (tiers) =>
        tiers.map(({ depth, tag, from }) => `${tag ?? depth}${from === 0n ? '' : `@${from}`}`).join(','),
      ),
  };
}

export function tokens(): Kind<PerNetwork<bigint>> {
  return wholeNumbers('whole tokens, or by network, `100 eip155:1=500`', 'tokens');
}

function wholeNumbers(name: string, unit: string): Kind<PerNetwork<bigint>> {
  return {
    name,
    parse: (raw, registry) =>
      readEntries(registry, raw, (value) =>
        /^\d{1,30}$/.test(value) ? BigInt(value) : new Problem(`must be a whole number of ${unit}`),
      ),
    show: (value) => showEntries(value, String),
  };
}

export function httpUrl(): Kind<string> {
  return { name: 'URL', parse: readEndpoint, secretsOf: secretsOfUrl };
}

/** The parts of an endpoint's URL that may be secret: credentials, and long words in its path and query. */
export function secretsOfUrl(raw: string): string[] {
  const url = new URL(raw);
  const words = [...url.pathname.split('/'), ...url.searchParams.values()].filter((word) => word.length >= 12);
  const rest = `${url.pathname}${url.search}`;
  return [
    raw,
    url.href,
    url.username,
    url.password,
    safeDecode(url.password),
    rest.length > 1 ? rest : '',
    ...words,
  ].filter((secret) => secret.length >= 4);
}

function readEntries<T>(
  registry: Registry,
  raw: string,
  readValue: (value: string, network: string | undefined) => T | Problem,
): PerNetwork<T> | Problem {
  const on = new Map<string, T>();
  let everywhere: T | undefined;
  for (const entry of raw.split(/\s+/)) {
    const [, network, text = ''] = /^(?:([a-z0-9-]{3,8}:[A-Za-z0-9_-]{1,32})=)?(.*)$/.exec(entry) ?? [];
    if (network !== undefined && registry.network(network)?.finality === undefined) {
      return new Problem(`names ${network}, which is no network that Till takes payments on`);
    }
    const value = readValue(text, network);
    if (value instanceof Problem) return network === undefined ? value : new Problem(`${value.text} for ${network}`);
    if (network === undefined ? everywhere !== undefined : on.has(network)) {
      return new Problem(network === undefined ? 'has two values for every network' : `names ${network} twice`);
    }
    if (network === undefined) everywhere = value;
    else on.set(network, value);
  }
  return { everywhere, on };
}

function listOf<T>(
  raw: string,
  most: number,
  what: string,
  read: (word: string) => T | Problem,
  sameOf: (word: string) => string = (word) => word.toLowerCase(),
): readonly T[] | Problem {
  const words = raw.split(',');
  if (words.length > most) return new Problem(`has more than ${most} ${what}`);
  if (new Set(words.map(sameOf)).size < words.length) return new Problem(`repeats one of its ${what}`);
  const values: T[] = [];
  for (const word of words) {
    const value = read(word);
    if (value instanceof Problem) return value;
    values.push(value);
  }
  return values;
}

function readAddress(word: string): string | Problem {
  const parsed = parseAccount(`eip155:1:${word}`);
  return parsed.ok ? parsed.value.address : new Problem(parsed.problem.replace(/^is not .*/, 'must be an address'));
}

function readEndpoint(word: string): string | Problem {
  const url = URL.parse(word);
  const isGood = url !== null && /^https?:$/.test(url.protocol) && url.hash === '';
  return isGood ? word : new Problem('must be http(s) URLs');
}

/**
 * The canonical spelling of an endpoint's URL. Two endpoints must agree on facts about money, so two spellings of one endpoint must
 * not count as two. Scheme and credentials are ignored, because they do not make another endpoint.
 */
function placeOfUrl(word: string): string {
  const url = URL.parse(word);
  if (url === null) return word.toLowerCase();
  const port = url.port === '' || url.port === '80' || url.port === '443' ? '' : `:${url.port}`;
  const host = url.hostname.replace(/\.$/, '');
  const path = safeDecode(url.pathname).replace(/\/+/g, '/').replace(/\/$/, '');
  url.searchParams.sort();
  return `${host}${port}${path}?${url.searchParams}`;
}

/** True for an address in place of a private key. The external signer has the private key. */
export function isAddress(relayer: string): boolean {
  return isAddressForm(relayer);
}

function readKey(word: string): string | Problem {
  if (isAddress(word)) return readAddress(word);
  const key = word.toLowerCase();
  const isGood = /^0x[0-9a-f]{64}$/.test(key) && BigInt(key) > 0n && BigInt(key) < CURVE_ORDER;
  return isGood ? key : new Problem('must be private keys of 0x and 64 hexadecimal digits, or addresses');
}

/** All private keys and addresses of a setting, whatever their network. */
export function keysIn(keys: PerNetwork<string | readonly string[]> | undefined): string[] {
  return [keys?.everywhere ?? [], ...(keys?.on.values() ?? [])].flat();
}

function privateKeysIn(keys: PerNetwork<string | readonly string[]>): string[] {
  return keysIn(keys).filter((key) => !isAddress(key));
}

function spellingsOfKey(key: string): string[] {
  return [key, key.slice(2)];
}

function readDepth(registry: Registry, network: string | undefined): (word: string) => FinalityTier | Problem {
  const { depth: least = 1, tags = [] } = registry.network(network ?? '')?.finality ?? {};
  const words = tags.length === 0 ? '' : `, or ${tags.join(' or ')}`;
  return (word) => {
    const [, wanted = '', from = '0'] = /^(\d{1,6}|safe|finalized)(?:@(\d{1,30}))?$/.exec(word) ?? [];
    const tag = tags.find((known) => known === wanted);
    if (tag !== undefined) return { tag, from: BigInt(from) };
    const depth = Number(wanted || Number.NaN);
    return depth >= least && depth <= MAX_DEPTH
      ? { depth, from: BigInt(from) }
      : new Problem(`must be whole numbers of blocks from ${least} to ${MAX_DEPTH}${words}`);
  };
}

function showEntries<T>({ everywhere, on }: PerNetwork<T>, show: (value: T) => string): string {
  const some = [...on].map(([network, value]) => `${network}=${show(value)}`);
  return [...(everywhere === undefined ? [] : [show(everywhere)]), ...some].join(' ');
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
