import type { Reader, Tx } from '../plumbing/database.ts';

/** Money on the intermediate account that is there to pay refunds from. */
export interface Float {
  /** A merchant's id, or the operator. */
  readonly owner: string;
  readonly network: string;
  readonly asset: string;
  /** In the smallest unit, as a decimal integer. */
  readonly units: string;
  /** The address that it is on. All of a float is on one account. Null if a node of an older version has made it. */
  readonly account: string | null;
}

export interface FloatChange {
  readonly owner: string;
  readonly network: string;
  readonly asset: string;
  /** Negative when units are taken. */
  readonly units: bigint;
  readonly kind: 'added' | 'covered' | 'returned' | 'restored';
  /** The stray, refund or return that caused the change. */
  readonly subject: string;
  /** The account that added units are on, where the float may be empty. */
  readonly account?: string | undefined;
}

/** Locks floats in one order, so that two transactions never wait for each other. A missing float is empty. */
export function lockFloats(tx: Tx, asset: string, owners: readonly string[]): Promise<Float[]> {
  return tx<Float[]>`
    select owner, network, asset, units, account from floats
    where asset = ${asset} and owner = any(${owners as string[]}::text[]) order by owner for update`;
}

/** Changes floats and appends the reason. The table refuses a negative float. */
export async function changeFloats(tx: Tx, changes: readonly FloatChange[], at: Date): Promise<void> {
  const rows = changes.filter(({ units }) => units !== 0n).map((row) => ({ ...row, units: row.units.toString() }));
  if (rows.length === 0) return;
  // Taking comes as an update alone: an insert of something below zero would be refused before it met the row.
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

/** Names the account of floats that have none. */
export async function nameFloatAccounts(
  tx: Tx,
  { network, account }: { network: string; account: string },
): Promise<void> {
  await tx`update floats set account = ${account} where network = ${network} and account is null`;
}

/** Locks the floats in an asset that are on an account and not empty. */
export function lockFloatsOn(tx: Tx, { asset, account }: { asset: string; account: string }): Promise<Float[]> {
  return tx<Float[]>`
    select owner, network, asset, units, account from floats
    where asset = ${asset} and lower(account) = lower(${account}) and units > 0 order by owner for update`;
}

export async function moveFloats(
  tx: Tx,
  { asset, owners, account }: { asset: string; owners: readonly string[]; account: string },
): Promise<void> {
  await tx`update floats set account = ${account} where asset = ${asset} and owner = any(${owners as string[]}::text[])`;
}
