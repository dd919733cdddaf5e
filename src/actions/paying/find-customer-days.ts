import { findDaysOfCustomers } from '../../store/payments/payment-stats.ts';
import { type CommandDeps, command } from '../command.ts';

/** After an upgrade all customers lack their first and last days. Small batches with a pause keep the database free for payments. */
const BATCH = 500;

/** Stores the first and the last day of some customers for whom they are missing. The others wait for the next run. */
export async function findCustomerDays(deps: CommandDeps): Promise<boolean> {
  await command(deps, (tx) => findDaysOfCustomers(tx, BATCH));
  return false;
}
