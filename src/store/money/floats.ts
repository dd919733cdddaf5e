import { addressKey } from '../../domain/addresses/families.ts';
import { addressKeySql } from '../plumbing/address-key.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** Money on the intermediate account that refunds are paid from. */
export interface Float {
  /** A merchant's id, or the constant for the operator. */
  readonly owner: string;
  readonly network: string;
  readonly asset: string;
  /** In the smallest unit, as a decimal integer. */
  readonly units: string;
  /** The address of the account. A float is on a single account. Null if a node of an older version has created the float. */
  readonly account: string | null;
}

export interface FloatChange {
  readonly owner: string;
  readonly network: string;
  readonly asset: string;
  /** Negative when the float shrinks. */
  readonly units: bigint;
  readonly kind: 'added' | 'covered' | 'returned' | 'restored' | 'departed';
  /** The unexpected money, refund or return that caused the change. */
  readonly subject: string;
  /** The account of added units. Needed if the float may be empty, because an empty float has no account. */
  readonly account?: string | undefined;
}

/** Locks floats in a fixed order, against deadlocks. A missing float is empty. */
export function lockFloats(tx: Tx, asset: string, owners: readonly string[]): Promise<Float[]> {
  return tx<Float[]>`
    select owner, network, asset, units, account from floats
    where asset = ${asset} and owner = any(${owners as string[]}::text[]) order by owner for update`;
}

/** Changes floats and records the reason. A table constraint refuses a negative float. */
export async function changeFloats(tx: Tx, changes: readonly FloatChange[], at: Date): Promise<void> {
  const rows = changes.filter(({ units }) => units !== 0n).map((row) => ({ ...row, units: row.units.toString() }));
  if (rows.length === 0) return;
  // A decrease is only an update: an upsert with negative units would violate the constraint before it reached the existing row.
  await tx`
    with input as (
      select * from jsonb_to_recordset(${tx.json(rows as never)}) as c(
        owner text, network text, asset text, units numeric, kind text, subject text, account text)
    ), taken as (
      update floats f set units = f.units + i.units from input i
      where f.owner = i.owner and f.asset = i.asset and i.units < 0
    ), added as (
      insert into floats (owner, network, asset, units, account)
      select owner, network, asset, units, account from input where units > 0
      on conflict (owner, asset) do update set units = floats.units + excluded.units,
        account = case when floats.units = 0 then coalesce(excluded.account, floats.account) else floats.account end
    )
    insert into float_changes (at, owner, asset, units, kind, subject)
    select ${at}, owner, asset, units, kind, subject from input`;
}

export function listFloats(db: Reader, owner?: string): Promise<Float[]> {
  return db<Float[]>`
    select owner, network, asset, units, account from floats
    where ${owner === undefined ? db`true` : db`owner = ${owner}`} order by owner, asset`;
}

/** Sets the account of floats that have none. */
export async function nameFloatAccounts(
  tx: Tx,
  { network, account }: { network: string; account: string },
): Promise<void> {
  await tx`update floats set account = ${account} where network = ${network} and account is null`;
}

/** Locks the floats of an asset on an account that are not empty. */
export function lockFloatsOn(tx: Tx, { asset, account }: { asset: string; account: string }): Promise<Float[]> {
  return tx<Float[]>`
    select owner, network, asset, units, account from floats
    where asset = ${asset} and ${addressKeySql(tx, asset, tx`account`)} = ${addressKey(asset, account)} and units > 0 order by owner for update`;
}

export async function moveFloats(
  tx: Tx,
  { asset, owners, account }: { asset: string; owners: readonly string[]; account: string },
): Promise<void> {
  await tx`update floats set account = ${account} where asset = ${asset} and owner = any(${owners as string[]}::text[])`;
}
