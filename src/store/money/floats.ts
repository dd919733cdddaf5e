import { addressKey } from '../../domain/addresses/families.ts';
import { addressKeySql } from '../plumbing/address-key.ts';
import type { Reader, Tx } from '../plumbing/database.ts';

/** Money on the intermediate account that pays refunds and returns. It belongs to a merchant or to the operator. */
export interface Float {
  /** The merchant's id, or `OPERATOR_FLOAT`. */
  readonly owner: string;
  readonly network: string;
  readonly asset: string;
  /** The amount of the float: a decimal integer in the smallest unit. */
  readonly units: string;
  /** The intermediate account that has the whole float. Null in rows that a node of an older version created. */
  readonly account: string | null;
}

export interface FloatChange {
  readonly owner: string;
  readonly network: string;
  readonly asset: string;
  /** Negative if the float gets smaller. */
  readonly units: bigint;
  readonly kind: 'added' | 'covered' | 'returned' | 'restored' | 'departed';
  /** The id of the unexpected money, refund, return or departure that caused the change. */
  readonly subject: string;
  /** The account that has received the added units. Required if the float may be empty, because an empty float has no account. */
  readonly account?: string | undefined;
}

/** Locks the floats of these owners in an asset. The order is fixed, to prevent deadlocks. A float without a row is empty. */
export function lockFloats(tx: Tx, asset: string, owners: readonly string[]): Promise<Float[]> {
  return tx<Float[]>`
    select owner, network, asset, units, account from floats
    where asset = ${asset} and owner = any(${owners as string[]}::text[]) order by owner for update`;
}

/** Changes floats and records the cause of each change. A table constraint refuses a negative float. */
export async function changeFloats(tx: Tx, changes: readonly FloatChange[], at: Date): Promise<void> {
  const rows = changes.filter(({ units }) => units !== 0n).map((row) => ({ ...row, units: row.units.toString() }));
  if (rows.length === 0) return;
  // A decrease is only an update: the constraint would refuse negative units in an upsert before it came to the existing row.
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

/** Sets the account of all floats of a network that have none. */
export async function nameFloatAccounts(
  tx: Tx,
  { network, account }: { network: string; account: string },
): Promise<void> {
  await tx`update floats set account = ${account} where network = ${network} and account is null`;
}

/** Locks the floats of an asset that are on an account and are not empty. */
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
