import type { Reader, Tx } from '../plumbing/database.ts';
import type { OwnAccount } from './own-accounts.ts';

/** An operator's decision to add or retire an account of ours. Rows are never deleted: the newest row of an account is in force. */
export interface AccountState extends Pick<OwnAccount, 'network' | 'address' | 'kind'> {
  readonly state: 'added' | 'retired';
  readonly since: Date;
  /** The MAC that proves that the gateway wrote the row. */
  readonly mac: string;
}

/** All decisions about the accounts of a network, or of all networks, the oldest first. Only operators add rows. */
export function listAccountStates(db: Reader, network?: string): Promise<AccountState[]> {
  return db<AccountState[]>`
    select ${columns(db)} from account_states
    where ${network === undefined ? db`true` : db`network = ${network}`} order by id`;
}

export async function insertAccountState(tx: Tx, row: AccountState): Promise<void> {
  await tx`
    insert into account_states (network, address, kind, decision, since, mac)
    values (${row.network}, ${row.address}, ${row.kind}, ${row.state}, ${row.since}, ${row.mac})`;
}

export function lockAllAccountStates(
  tx: Tx,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<(AccountState & { readonly id: string })[]> {
  return tx<(AccountState & { id: string })[]>`
    select ${rowId(tx)} as id, ${columns(tx)} from account_states
    where ${rowId(tx)} > ${after} order by 1 limit ${limit} for no key update`;
}

export async function setAccountStateMacs(tx: Tx, rows: readonly { id: string; mac: string }[]): Promise<void> {
  await tx`
    update account_states set mac = m.mac
    from jsonb_to_recordset(${tx.json(rows)}) as m(id text, mac text) where ${rowId(tx)} = m.id`;
}

/** The id as text with leading zeros, because pages of MACs are ordered by text. */
function rowId(db: Reader) {
  return db`lpad(account_states.id::text, 19, '0') collate "C"`;
}

function columns(db: Reader) {
  return db`network, address, kind, decision as state, since, account_states.mac`;
}
