import { type ClockCheckDeps, createClockCheck } from '../actions/check-clock.ts';
import { createEndpointCheck } from '../actions/check-endpoints.ts';
import { recheckRefusals } from '../actions/outgoing/recheck-refusals.ts';
import { createWorkCheck, type WorkCheckDeps } from '../actions/oversight/check-work.ts';
import { applyCooledOff } from '../actions/parties/cool-off-destinations.ts';
import { createFreezeCheck } from '../actions/parties/freeze-heads.ts';
import type { KeyUseRecorder } from '../actions/parties/record-key-uses.ts';
import { expirePayments } from '../actions/paying/expire-payments.ts';
import { foldStats } from '../actions/paying/fold-stats.ts';
import { pruneHistories } from '../actions/prune-histories.ts';
import { pruneIdempotencyKeys } from '../actions/prune-idempotency-keys.ts';
import type { RowKeyDeps } from '../actions/row-keys.ts';
import type { Chains } from '../chains/chains.ts';
import type { Job, WorkerDeps } from './loop.ts';

/** Jobs that keep the tables small and the records current. */
export function housekeepingJobs(deps: WorkerDeps & RowKeyDeps): readonly Job[] {
  return [
    { name: 'expire-payments', everyMs: 1_000, run: () => expirePayments(deps) },
    { name: 'apply-destinations', everyMs: 1_000, run: () => applyCooledOff(deps) },
    { name: 'check-freezes', everyMs: 2_000, run: createFreezeCheck(deps) },
    { name: 'recheck-refusals', everyMs: 60_000, run: () => recheckRefusals(deps) },
    { name: 'fold-stats', everyMs: 2_000, run: () => foldStats(deps) },
    { name: 'prune-idempotency-keys', everyMs: 60_000, run: () => pruneIdempotencyKeys(deps) },
    { name: 'prune-histories', everyMs: 600_000, run: () => pruneHistories(deps) },
  ];
}

/** Looks for work that nobody does. Any node may look for all. */
export function workCheckJob(deps: WorkerDeps & WorkCheckDeps): Job {
  return { name: 'check-work', everyMs: 10_000, run: createWorkCheck(deps) };
}

/** The checks that every node makes for itself, whatever its roles. */
export function ownChecks(deps: WorkerDeps & ClockCheckDeps & { readonly chains: Chains }): readonly Job[] {
  return [
    { name: 'check-clock', everyMs: 10_000, run: createClockCheck(deps) },
    { name: 'check-endpoints', everyMs: 10_000, run: createEndpointCheck(deps) },
  ];
}

/** Stores the uses of keys that this node has seen. */
export function keyUsesJob(deps: WorkerDeps & { keyUses: KeyUseRecorder }): Job {
  return { name: 'record-key-uses', everyMs: 10_000, run: () => deps.keyUses.flush(deps) };
}
