import { foldStatChanges } from '../../store/payments/payment-stats.ts';
import { type CommandDeps, command } from '../command.ts';

const BATCH = 2_000;

/**
 * Adds stored changes of the statistics to their totals. Readers sum totals and changes, so they see no difference. Returns true if there
 * are more changes.
 */
export async function foldStats(deps: CommandDeps): Promise<boolean> {
  return (await command(deps, (tx) => foldStatChanges(tx, BATCH))) === BATCH;
}
