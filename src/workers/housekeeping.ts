import { pruneIdempotencyKeys } from '../actions/prune-idempotency-keys.ts';
import type { KeyUseRecorder } from '../actions/record-key-uses.ts';
import type { Job, WorkerDeps } from './loop.ts';

/** What keeps the tables small and the records current. */
export function housekeepingJobs(deps: WorkerDeps & { keyUses: KeyUseRecorder }): readonly Job[] {
  return [
    { name: 'prune-idempotency-keys', everyMs: 60_000, run: () => pruneIdempotencyKeys(deps) },
    { name: 'record-key-uses', everyMs: 10_000, run: () => deps.keyUses.flush(deps) },
  ];
}
