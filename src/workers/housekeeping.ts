import { type ClockCheckDeps, createClockCheck } from '../actions/check-clock.ts';
import { recheckRefusals } from '../actions/outgoing/recheck-refusals.ts';
import { applyCooledOff } from '../actions/parties/cool-off-destinations.ts';
import { createFreezeCheck } from '../actions/parties/freeze-heads.ts';
import type { KeyUseRecorder } from '../actions/parties/record-key-uses.ts';
import { expirePayments } from '../actions/paying/expire-payments.ts';
import { foldStats } from '../actions/paying/fold-stats.ts';
import { pruneIdempotencyKeys } from '../actions/prune-idempotency-keys.ts';
import type { RowKeyDeps } from '../actions/row-keys.ts';
import { pruneDeliveries } from '../actions/webhooks/prune-deliveries.ts';
import type { Job, WorkerDeps } from './loop.ts';

/** Jobs that keep the tables small and the records current. */
export function housekeepingJobs(deps: WorkerDeps & RowKeyDeps & ClockCheckDeps): readonly Job[] {
  return [
    { name: 'expire-payments', everyMs: 1_000, run: () => expirePayments(deps) },
    { name: 'apply-destinations', everyMs: 1_000, run: () => applyCooledOff(deps) },
    { name: 'check-freezes', everyMs: 2_000, run: createFreezeCheck(deps) },
    { name: 'recheck-refusals', everyMs: 60_000, run: () => recheckRefusals(deps) },
    { name: 'fold-stats', everyMs: 2_000, run: () => foldStats(deps) },
    { name: 'prune-idempotency-keys', everyMs: 60_000, run: () => pruneIdempotencyKeys(deps) },
    { name: 'check-clock', everyMs: 10_000, run: createClockCheck(deps) },
  ];
}

/** Removes old deliveries of webhooks. */
export function pruneDeliveriesJob(deps: WorkerDeps, input: { readonly keptDays: number }): Job {
  return { name: 'prune-deliveries', everyMs: 60_000, run: () => pruneDeliveries(deps, input) };
}

/** Stores the uses of keys that this node has seen. */
export function keyUsesJob(deps: WorkerDeps & { keyUses: KeyUseRecorder }): Job {
  return { name: 'record-key-uses', everyMs: 10_000, run: () => deps.keyUses.flush(deps) };
}
