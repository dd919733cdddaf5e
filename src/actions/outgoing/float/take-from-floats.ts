import { tokenText } from '../../../chains/amount-text.ts';
import { OPERATOR_FLOAT } from '../../../domain/books.ts';
import { changeFloats, type FloatChange, lockFloats } from '../../../store/money/floats.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

export interface Taking extends Pick<FloatChange, 'network' | 'asset' | 'subject' | 'kind'> {
  readonly parts: readonly { readonly owner: string; readonly units: bigint }[];
}

/** The units that a float lacks. */
export interface Lack {
  readonly owner: string;
  readonly units: bigint;
}

export type Taken = { readonly ok: true } | { readonly ok: false; readonly missing: readonly Lack[] };

/** Takes all parts or none. Names the floats that have too little, with the missing units. */
export async function takeFromFloats(tx: Tx, { parts, ...rest }: Taking, at: Date): Promise<Taken> {
  const wanted = parts.filter(({ units }) => units > 0n);
  const missing = await lackOfFloats(tx, rest.asset, wanted);
  if (missing.length > 0) return { ok: false, missing };
  const changes = wanted.map(({ owner, units }) => ({ ...rest, owner, units: -units }));
  await changeFloats(tx, changes, at);
  return { ok: true };
}

/** Locks the floats, takes nothing, and names those that have too little. */
export async function lackOfFloats(tx: Tx, asset: string, parts: Taking['parts']): Promise<readonly Lack[]> {
  const wanted = parts.filter(({ units }) => units > 0n);
  if (wanted.length === 0) return [];
  const floats = await lockFloats(
    tx,
    asset,
    wanted.map(({ owner }) => owner),
  );
  const has = new Map(floats.map(({ owner, units }) => [owner, BigInt(units)]));
  return wanted
    .map(({ owner, units }) => ({ owner, units: units - (has.get(owner) ?? 0n) }))
    .filter(({ units }) => units > 0n);
}

/** `the float of mrch_… lacks 12.50 USDC, and the operator's float lacks 0.10 USDC`. */
export function lackText(asset: string, missing: readonly Lack[]): string {
  const parts = missing.map(({ owner, units }) => {
    const float = owner === OPERATOR_FLOAT ? "the operator's float" : `the float of ${owner}`;
    return `${float} lacks ${tokenText(asset, units)}`;
  });
  return parts.join(', and ');
}
