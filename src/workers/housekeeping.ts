import { createAnnouncement, type NodeDeps } from '../actions/announce-node.ts';
import { type ClockCheckDeps, createClockCheck } from '../actions/check-clock.ts';
import { createEndpointCheck } from '../actions/check-endpoints.ts';
import type { SecretDeps } from '../actions/open-receipt-key.ts';
import { recheckRefusals } from '../actions/outgoing/check/recheck-refusals.ts';
import { createWorkCheck, type WorkCheckDeps } from '../actions/oversight/check-work.ts';
import { createAccountCheck } from '../actions/own-accounts.ts';
import { createCoolOff } from '../actions/parties/cool-off-destinations.ts';
import { createFreezeCheck } from '../actions/parties/freeze-heads.ts';
import { createExpiry } from '../actions/paying/expire-payments.ts';
import { findCustomerDays } from '../actions/paying/find-customer-days.ts';
import { foldStats } from '../actions/paying/fold-stats.ts';
import { foldPaymentSteps } from '../actions/paying/fold-steps.ts';
import { createPictureRenewal } from '../actions/paying/renew-pictures.ts';
import { pruneSignIns } from '../actions/people/prune-sign-ins.ts';
import { pruneHistories } from '../actions/prune-histories.ts';
import { pruneIdempotencyKeys } from '../actions/prune-idempotency-keys.ts';
import { pruneRequests, type RequestRecorder } from '../actions/record-requests.ts';
import type { UseRecorder } from '../actions/record-uses.ts';
import type { RowKeyDeps } from '../actions/row-keys.ts';
import { pruneDeliveries } from '../actions/webhooks/prune-deliveries.ts';
import type { Chains } from '../chains/chains.ts';
import { judging } from './judging.ts';
import type { Job, WorkerDeps } from './loop.ts';

/** Jobs that delete old rows and keep stored summaries and states current. */
export function housekeepingJobs(
  deps: WorkerDeps & RowKeyDeps & SecretDeps & { readonly chains: Chains },
): readonly Job[] {
  return [
    { name: 'expire-payments', everyMs: 1_000, run: createExpiry(deps) },
    ...judging(deps, [
      { name: 'apply-destinations', everyMs: 1_000, run: createCoolOff(deps) },
      { name: 'check-accounts', everyMs: 60_000, run: createAccountCheck(deps) },
      { name: 'check-freezes', everyMs: 2_000, run: createFreezeCheck(deps) },
      { name: 'recheck-refusals', everyMs: 60_000, run: () => recheckRefusals(deps) },
    ]),
    { name: 'fold-stats', everyMs: 2_000, run: () => foldStats(deps) },
    { name: 'fold-steps', everyMs: 2_000, run: () => foldPaymentSteps(deps) },
    { name: 'find-customer-days', everyMs: 1_000, run: () => findCustomerDays(deps) },
    { name: 'renew-pictures', everyMs: 5_000, run: createPictureRenewal(deps) },
    { name: 'prune-idempotency-keys', everyMs: 60_000, run: () => pruneIdempotencyKeys(deps) },
    { name: 'prune-sign-ins', everyMs: 60_000, run: () => pruneSignIns(deps) },
    { name: 'prune-requests', everyMs: 60_000, run: () => pruneRequests(deps) },
    { name: 'prune-histories', everyMs: 60_000, run: () => pruneHistories(deps) },
  ];
}

/** Jobs that run on every node, whatever its roles. One of them reports work that no node does, because all lack its role. */
export function checks(deps: WorkerDeps & NodeDeps & ClockCheckDeps & WorkCheckDeps): readonly Job[] {
  return [
    { name: 'announce-node', everyMs: 5_000, run: createAnnouncement(deps) },
    { name: 'check-clock', everyMs: 10_000, run: createClockCheck(deps) },
    { name: 'check-endpoints', everyMs: 10_000, run: createEndpointCheck(deps) },
    { name: 'check-work', everyMs: 10_000, run: createWorkCheck(deps) },
  ];
}

export function pruneDeliveriesJob(deps: WorkerDeps, input: { readonly keptDays: number }): Job {
  return { name: 'prune-deliveries', everyMs: 60_000, run: () => pruneDeliveries(deps, input) };
}

/** Stores uses of keys and sessions, requests, and visits of payers, which this node has collected in memory. */
export function usesJobs(deps: WorkerDeps & Recorders): readonly Job[] {
  return [
    { name: 'record-requests', everyMs: 2_000, run: () => deps.requestLog.flush(deps) },
    { name: 'record-key-uses', everyMs: 10_000, run: () => deps.keyUses.flush(deps) },
    { name: 'record-session-uses', everyMs: 10_000, run: () => deps.sessionUses.flush(deps) },
    { name: 'record-openings', everyMs: 2_000, run: () => deps.openings.flush(deps) },
    { name: 'record-option-asks', everyMs: 2_000, run: () => deps.optionAsks.flush(deps) },
  ];
}

interface Recorders {
  readonly keyUses: UseRecorder;
  readonly sessionUses: UseRecorder;
  readonly requestLog: RequestRecorder;
  readonly openings: UseRecorder;
  readonly optionAsks: UseRecorder;
}
