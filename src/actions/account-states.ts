import { addressKey, isSameAddress } from '../domain/addresses/families.ts';
import type { MacFields } from '../domain/row-mac.ts';
import {
  type AccountState,
  insertAccountState,
  listAccountStates,
  lockAllAccountStates,
  setAccountStateMacs,
} from '../store/chain/account-states.ts';
import type { Reader, Tx } from '../store/plumbing/database.ts';
import { type Pages, renewMacs } from './renew-macs.ts';
import { macsOf, type RowKeyDeps } from './row-keys.ts';

type Decision = Omit<AccountState, 'mac'>;

const { macOf, withMac, isOwn } = macsOf('account_states', fieldsOf);
export const isOwnAccountState = isOwn;

/**
 * Reads the decisions in force about our accounts, of one network or of all: for each account and kind, the newest row with a valid MAC.
 */
export async function readAccountStates(
  db: Reader,
  deps: RowKeyDeps,
  network?: string,
): Promise<readonly AccountState[]> {
  const rows = (await listAccountStates(db, network)).filter((row) => isOwnAccountState(deps, row));
  return [...new Map(rows.map((row) => [keyOf(row), row])).values()];
}

/** True if these decisions retire the account in this role (its `kind`). */
export function isRetired(
  states: readonly AccountState[],
  { address, kind }: Pick<AccountState, 'address' | 'kind'>,
): boolean {
  return states.some(
    (row) => row.kind === kind && row.state === 'retired' && isSameAddress(row.network, row.address, address),
  );
}

export function storeAccountState(tx: Tx, deps: RowKeyDeps, decision: Decision): Promise<void> {
  return insertAccountState(tx, withMac(deps, decision));
}

export function renewAccountStateMacs(
  pages: Pages,
  deps: RowKeyDeps,
  isTrusted: (row: AccountState) => boolean,
): Promise<number> {
  const rows = {
    lock: lockAllAccountStates,
    macOf: (row: AccountState & { readonly id: string }) => macOf(deps, row),
    write: setAccountStateMacs,
  };
  return renewMacs(pages, rows, isTrusted);
}

function keyOf({ network, address, kind }: Decision): string {
  return `${network}:${addressKey(network, address)} ${kind}`;
}

function fieldsOf({ network, address, kind, state, since }: Decision): MacFields {
  return { network, address, kind, state, since: since.toISOString() };
}
