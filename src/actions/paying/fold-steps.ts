import { foldSteps } from '../../store/payments/payment-steps.ts';
import { type CommandDeps, command } from '../command.ts';

const ROUND = { visits: 2_000, batches: 50 } as const;

/** Adds the steps of payers to the totals of their days. Returns true if there are more. */
export function foldPaymentSteps(deps: CommandDeps): Promise<boolean> {
  return command(deps, (tx) => foldSteps(tx, ROUND));
}
