import { isSameAddress } from '../../domain/addresses/families.ts';
import type { Account } from '../../domain/caip.ts';
import { validationError } from '../../errors.ts';
import { findDepositAddresses } from '../../store/chain/deposits.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { storedAccounts } from '../own-accounts.ts';
import type { RowKeyDeps } from '../row-keys.ts';

/** The recipient of money, with the field of the request that names it. */
export interface NamedAccount {
  readonly field: string;
  readonly account: Account;
}

/**
 * Refuses deposit addresses and every account that was ever ours as recipients: money that we send to ourselves would count as
 * sent, and come back as the payment of somebody else. `destinationProblem` refuses the present accounts and contracts.
 */
export async function refuseOwnPlaces(tx: Tx, deps: RowKeyDeps, named: readonly NamedAccount[]): Promise<void> {
  const issues = [];
  for (const { field, account } of named) {
    const { address, chainId } = account;
    const found = await findDepositAddresses(tx, [address]);
    if (found.size > 0) issues.push({ field, message: 'must not be a deposit address' });
    const own = await storedAccounts(tx, deps, chainId);
    const isOwn = own.some((row) => isSameAddress(chainId, row.address, address));
    if (isOwn) issues.push({ field, message: "must not be the operator's own account" });
  }
  if (issues.length > 0) throw validationError(issues);
}
