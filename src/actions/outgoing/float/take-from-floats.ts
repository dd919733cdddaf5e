import { changeFloats, type FloatChange, lockFloats } from '../../../store/money/floats.ts';
import type { Tx } from '../../../store/plumbing/database.ts';

export interface Taking extends Pick<FloatChange, 'network' | 'asset' | 'subject' | 'kind'> {
  readonly parts: readonly { readonly owner: string; readonly units: bigint }[];
}

export type Taken = { readonly ok: true } | { readonly ok: false; readonly missing: readonly string[] };

/** Takes all the parts or none; names the floats that have too little. */
export async function takeFromFloats(tx: Tx, { parts, ...rest }: Taking, at: Date): Promise<Taken> {
  const wanted = parts.filter(({ units }) => units > 0n);
  if (wanted.length === 0) return { ok: true };
  const floats = await lockFloats(
    tx,
    rest.asset,
    wanted.map(({ owner }) => owner),
  );
  const has = new Map(floats.map(({ owner, units }) => [owner, BigInt(units)]));
  const missing = wanted.filter(({ owner, units }) => (has.get(owner) ?? 0n) < units).map(({ owner }) => owner);
  if (missing.length > 0) return { ok: false, missing };
  const changes = wanted.map(({ owner, units }) => ({ ...rest, owner, units: -units }));
  await changeFloats(tx, changes, at);
  return { ok: true };
}
