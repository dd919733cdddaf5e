import type { Reader, Tx } from '../plumbing/database.ts';

/** An account that is or was ours, with the time of its first use. Rows are never deleted. */
export interface OwnAccount {
  readonly network: string;
  readonly address: string;
  readonly kind: 'intermediate' | 'relayer';
  readonly since: Date;
  /** The MAC that proves that the gateway wrote the row. */
  readonly mac: string;
}

/**
 * The accounts that are or were ours on a network, or on all networks, the oldest first. There are only as many as operators ever
 * configured.
 */
export function listOwnAccounts(db: Reader, network?: string): Promise<OwnAccount[]> {
  return db<OwnAccount[]>`
    select ${columns(db)} from own_accounts
    where ${network === undefined ? db`true` : db`network = ${network}`} order by since, network, kind, address`;
}

export async function insertOwnAccounts(tx: Tx, rows: readonly OwnAccount[]): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    insert into own_accounts (network, address, kind, since, mac)
    select network, address, kind, since, mac
    from jsonb_to_recordset(${tx.json(rows as never)})
      as r(network text, address text, kind text, since timestamptz, mac text)
    on conflict (network, kind, address, since) do update set mac = excluded.mac`;
}

export function lockAllOwnAccounts(
  tx: Tx,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<(OwnAccount & { readonly id: string })[]> {
  return tx<(OwnAccount & { id: string })[]>`
    select ${rowId(tx)} as id, ${columns(tx)} from own_accounts
    where ${rowId(tx)} > ${after} order by 1 limit ${limit} for no key update`;
}

export async function setOwnAccountMacs(tx: Tx, rows: readonly { id: string; mac: string }[]): Promise<void> {
  await tx`
    update own_accounts set mac = m.mac
    from jsonb_to_recordset(${tx.json(rows)}) as m(id text, mac text) where ${rowId(tx)} = m.id`;
}

function rowId(db: Reader) {
  return db`concat_ws(' ', network, kind, address, extract(epoch from since)::text) collate "C"`;
}

function columns(db: Reader) {
  return db`network, address, kind, since, own_accounts.mac`;
}
