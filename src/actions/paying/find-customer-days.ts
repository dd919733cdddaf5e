import { findDaysOfCustomers } from '../../store/payments/payment-stats.ts';
import { type CommandDeps, command } from '../command.ts';

/** After an upgrade all customers lack their days. So many at once, with a pause, leave the database to payments. */
const BATCH = 500;

/** Finds the days of some customers that lack them. The rest waits for the next run. */
export async function findCustomerDays(deps: CommandDeps): Promise<boolean> {
  await command(deps, (tx) => findDaysOfCustomers(tx, BATCH));
  return false;
}
