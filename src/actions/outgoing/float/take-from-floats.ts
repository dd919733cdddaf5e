import { tokenText } from '../../../chains/amount-text.ts';
import { type ConnectedChain, intermediateSignerAt } from '../../../chains/chains.ts';
import type { Registry } from '../../../chains/registry.ts';
import { isSameAddress } from '../../../domain/addresses/families.ts';
import { OPERATOR_FLOAT } from '../../../domain/books.ts';
import { changeFloats, type Float, type FloatChange, lockFloats } from '../../../store/money/floats.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

export interface Taking extends Pick<FloatChange, 'network' | 'asset' | 'subject' | 'kind'> {
  readonly parts: readonly { readonly owner: string; readonly units: bigint }[];
  /**
   * The account that pays. A float on another account cannot pay, because its money is not there. Null if the accounts of the floats do
   * not matter, for example because the money has left already.
   */
  readonly payer: string | null;
}

export interface Lack {
  readonly owner: string;
  readonly units: bigint;
  /** The account of the float, if it differs from the account that pays. */
  readonly elsewhere?: string;
}

export type Taken = { readonly ok: true } | { readonly ok: false; readonly missing: readonly Lack[] };

/** Takes all parts from their floats, or none of them. If floats have too little, returns these floats with the missing units. */
export async function takeFromFloats(tx: Tx, { parts, payer, ...rest }: Taking, at: Date): Promise<Taken> {
  const wanted = parts.filter(({ units }) => units > 0n);
  const missing = await lackOfFloats(tx, { asset: rest.asset, payer, parts: wanted });
  if (missing.length > 0) return { ok: false, missing };
  const changes = wanted.map(({ owner, units }) => ({ ...rest, owner, units: -units }));
  await changeFloats(tx, changes, at);
  return { ok: true };
}

/** Locks the floats without taking anything. Returns the floats that have too little. */
export async function lackOfFloats(
  tx: Tx,
  { asset, payer, parts }: Pick<Taking, 'asset' | 'payer' | 'parts'>,
): Promise<readonly Lack[]> {
  const wanted = parts.filter(({ units }) => units > 0n);
  if (wanted.length === 0) return [];
  const floats = await lockFloats(
    tx,
    asset,
    wanted.map(({ owner }) => owner),
  );
  const known = new Map(floats.map((float) => [float.owner, float]));
  return wanted.flatMap(({ owner, units }) => {
    const float = known.get(owner);
    const elsewhere = float !== undefined && isElsewhere(float, payer) ? float.account : null;
    const lack = units - (elsewhere === null ? BigInt(float?.units ?? '0') : 0n);
    return lack > 0n ? [{ owner, units: lack, ...(elsewhere !== null && { elsewhere }) }] : [];
  });
}

/**
 * The account of these floats, if all of them are on one intermediate account whose key is configured. After a rotation, floats stay
 * on the earlier account and pay from there.
 */
export async function accountOfFloats(
  tx: Tx,
  connected: ConnectedChain,
  { asset, parts }: Pick<Taking, 'asset' | 'parts'>,
): Promise<string | undefined> {
  const owners = parts.filter(({ units }) => units > 0n).map(({ owner }) => owner);
  if (owners.length === 0) return undefined;
  const floats = (await lockFloats(tx, asset, owners)).filter(({ units }) => BigInt(units) > 0n);
  const [account, ...more] = new Set(floats.flatMap((float) => float.account ?? []));
  if (account === undefined || more.length > 0) return undefined;
  return intermediateSignerAt(connected, account) === undefined ? undefined : account;
}

type PlacedFloat = Pick<Float, 'network' | 'account' | 'units'>;

export function isElsewhere({ network, account, units }: PlacedFloat, payer: string | null): boolean {
  if (payer === null || account === null || BigInt(units) === 0n) return false;
  return !isSameAddress(network, account, payer);
}

/** The missing units as text: `the float of mrch_… lacks 12.50 USDC, and the operator's float lacks 0.10 USDC`. */
export function lackText(registry: Registry, asset: string, missing: readonly Lack[]): string {
  const parts = missing.map(({ owner, units, elsewhere }) => {
    const float = owner === OPERATOR_FLOAT ? "the operator's float" : `the float of ${owner}`;
    const place = elsewhere === undefined ? '' : ` here, because it is on the account ${elsewhere}`;
    return `${float} lacks ${tokenText(registry, asset, units)}${place}`;
  });
  return parts.join(', and ');
}
