import type { Account } from '../../domain/caip.ts';
import { validationError } from '../../errors.ts';
import { findDepositAddresses } from '../../store/chain/deposits.ts';
import type { Tx } from '../../store/plumbing/database.ts';

/** An account that money is to go to, with the field of the request that names it. */
export interface NamedAccount {
  readonly field: string;
  readonly account: Account;
}

/**
 * Refuses deposit addresses as recipients: money that we send to one would come back as the payment of somebody else. Our
 * accounts and contracts are refused by `destinationProblem`.
 */
export async function refuseDepositAddresses(tx: Tx, named: readonly NamedAccount[]): Promise<void> {
  const issues = [];
  for (const { field, account } of named) {
    const { address } = account;
    const found = await findDepositAddresses(tx, [address]);
    if (found.size > 0) issues.push({ field, message: 'must not be a deposit address' });
  }
  if (issues.length > 0) throw validationError(issues);
}
