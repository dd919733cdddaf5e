import { foldStatChanges } from '../../store/payments/payment-stats.ts';
import { type CommandDeps, command } from '../command.ts';

const BATCH = 2_000;

/** Adds noted changes to the totals; the sum of both, which is what is shown, stays the same. Whether there are more. */
export async function foldStats(deps: CommandDeps): Promise<boolean> {
  return (await command(deps, (tx) => foldStatChanges(tx, BATCH))) === BATCH;
}
