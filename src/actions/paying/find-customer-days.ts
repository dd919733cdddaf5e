import { findDaysOfCustomers } from '../../store/payments/payment-stats.ts';
import { type CommandDeps, command } from '../command.ts';

/**
 * The number of customers in one run. After an upgrade all customers lack their first and last days. Small batches with a pause keep the
 * database free for payments.
 */
const BATCH = 500;

/**
 * Stores the days of the first and the last payment of some customers for whom they are missing. The other customers wait for the next
 * run.
 */
export async function findCustomerDays(deps: CommandDeps): Promise<boolean> {
  await command(deps, (tx) => findDaysOfCustomers(tx, BATCH));
  return false;
}
