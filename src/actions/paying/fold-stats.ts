import { foldStatChanges } from '../../store/payments/payment-stats.ts';
import { type CommandDeps, command } from '../command.ts';

const BATCH = 2_000;

/** Folds changes into the totals. The displayed sum of both stays the same. Returns true if there are more. */
export async function foldStats(deps: CommandDeps): Promise<boolean> {
  return (await command(deps, (tx) => foldStatChanges(tx, BATCH))) === BATCH;
}
