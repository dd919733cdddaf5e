import { type Parsed, parseAsset } from '../domain/caip.ts';
import { fiatCodeOf, parseFiatUnit } from '../domain/currency.ts';
import { findAsset, findNetwork } from './networks.ts';

/** The unit of an amount: a currency, or a token on a network. */
export interface Unit {
  /** In canonical spelling: `iso4217/USD` or `caip19/eip155:8453/erc20:0x…`. */
  readonly id: string;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  readonly token:
    | { readonly asset: string; readonly chainId: string; readonly networkName: string | undefined }
    | undefined;
}

const TOKEN = 'caip19/';
const KNOWN = new Map<string, Unit>();
const MAX_KNOWN = 1_000;

/** Reads the unit of an amount that a client sent. */
export function parseUnit(text: string): Parsed<Unit> {
  const known = KNOWN.get(text);
  if (known !== undefined) return { ok: true, value: known };
  const parsed = isFiatUnit(text) ? parseFiat(text) : text.startsWith(TOKEN) ? parseToken(text) : NO_PREFIX;
  // Spellings repeat all day, and checking an address takes a hash. Only right ones are remembered, and not too many.
  if (parsed.ok && KNOWN.size < MAX_KNOWN) KNOWN.set(text, parsed.value);
  return parsed;
}

/** The unit of an amount that was stored; stored units stay readable when an asset is no longer offered. */
export function storedUnit(id: string, decimals: number): Unit {
  const parsed = parseUnit(id);
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

function parseToken(text: string): Parsed<Unit> {
  const parsed = parseAsset(text.slice(TOKEN.length));
  if (!parsed.ok) return parsed;
  const { id: asset, chainId } = parsed.value;
  const known = findAsset(asset);
  if (known === undefined) return { ok: false, problem: 'names an asset that this gateway does not know' };
  const { symbol, name, decimals } = known;
  const token = { asset, chainId, networkName: findNetwork(chainId)?.name };
  return { ok: true, value: { id: TOKEN + asset, symbol, name, decimals, token } };
}
