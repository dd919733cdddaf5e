import { parseAsset } from '../domain/caip.ts';
import { fiatCodeOf, parseFiatUnit } from '../domain/currency.ts';
import type { Parsed } from '../domain/parsed.ts';
import type { KnownAsset } from './network.ts';
import type { Registry } from './registry.ts';

/** The unit of an amount: a currency, or a token on a network. */
export interface Unit {
  /** The id in canonical spelling: `iso4217/USD` or `caip19/eip155:8453/erc20:0x…`. */
  readonly id: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly token:
    | { readonly asset: string; readonly chainId: string; readonly networkName: string | undefined }
    | undefined;
}

const TOKEN = 'caip19/';

export function parseUnit(registry: Registry, text: string): Parsed<Unit> {
  if (isFiatUnit(text)) return parseFiat(text);
  return text.startsWith(TOKEN) ? parseToken(registry, text.slice(TOKEN.length)) : NO_PREFIX;
}

/** The unit of a stored amount. It stays readable when the asset is no longer known. */
export function storedUnit(registry: Registry, id: string, decimals: number): Unit {
  const parsed = parseUnit(registry, id);
  return parsed.ok ? parsed.value : { id, symbol: id, name: id, decimals, token: undefined };
}

export function isFiatUnit(id: string): boolean {
  return fiatCodeOf(id) !== undefined;
}

export function tokenUnitId(asset: string): string {
  return TOKEN + asset;
}

const NO_PREFIX: Parsed<Unit> = {
  ok: false,
  problem: 'must begin with iso4217/ and a currency code, or with caip19/ and an asset id',
};

function parseFiat(text: string): Parsed<Unit> {
  const currency = parseFiatUnit(text);
  if (!currency.ok) return currency;
  const { code, name, decimals } = currency.value;
  return { ok: true, value: { id: text, symbol: code, name, decimals, token: undefined } };
}

function parseToken(registry: Registry, text: string): Parsed<Unit> {
  // Stored amounts have the canonical spelling, so a lookup by text comes first. Checking the spelling of an address needs a hash,
  // which takes 27 µs, and a page of a list has hundreds of amounts.
  const known = registry.asset(text);
  if (known !== undefined) return { ok: true, value: unitOf(registry, known) };
  const parsed = parseAsset(text);
  if (!parsed.ok) return parsed;
  const found = registry.asset(parsed.value.id);
  if (found === undefined) return { ok: false, problem: 'names an unknown asset' };
  return { ok: true, value: unitOf(registry, found) };
}

function unitOf(registry: Registry, { id, symbol, name, decimals }: KnownAsset): Unit {
  const [chainId = ''] = id.split('/');
  const token = { asset: id, chainId, networkName: registry.network(chainId)?.name };
  return { id: TOKEN + id, symbol, name, decimals, token };
}
