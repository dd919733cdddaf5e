import { unshiftedWorld } from '../runtime/shifted-clock.ts';
import type { Log } from '../runtime/world.ts';
import type { Tx } from '../store/plumbing/database.ts';
import { extendLease, type Lease, lockLease, releaseLease, takeLease } from '../store/plumbing/leases.ts';
import { type CommandDeps, command } from './command.ts';

export interface LeaseDeps extends CommandDeps {
  readonly log: Log;
  /** A random name of this process. */
  readonly holder: string;
  /** The validity of the lease without renewal: long enough to survive a slow moment, short enough to replace a dead holder soon. */
  readonly leaseMs?: number;
}

const DEFAULT_LEASE_MS = 10_000;
/** The share of the validity after which the holder renews the lease. Two renewals may fail before the lease expires. */
const RENEWED_AFTER = 0.3;

export function leaseMsOf({ leaseMs = DEFAULT_LEASE_MS }: Pick<LeaseDeps, 'leaseMs'>): number {
  return leaseMs;
}

/** Thrown when another node has taken the lease, so this node may not write any more. */
export class LeaseLostError extends Error {
  constructor(name: string) {
    super(`The lease ${name} was taken over.`);
    this.name = 'LeaseLostError';
  }
}

/**
 * Does the work while this node holds the lease. Returns false if another node holds it. The signal aborts on stop and when the lease is
 * lost. The signal only saves work; safety comes from the fencing number, which every write checks.
 */
export async function whileLeading(
  given: LeaseDeps,
  name: string,
  stop: AbortSignal,
  work: (lease: Lease, signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const deps = { ...given, world: unshiftedWorld(given.world) };
  const leaseMs = leaseMsOf(deps);
  const lease = await command(deps, (tx, now) =>
    takeLease(tx, { name, holder: deps.holder, now, until: new Date(now.getTime() + leaseMs) }),
  );
  if (lease === undefined) return false;
  deps.log.info({ lease: name, fencing: lease.fencing }, 'leading');
  const lost = new AbortController();
  const signal = AbortSignal.any([stop, lost.signal]);
  const released = renew(deps, lease, signal)
    .catch(() => lost.abort())
    // Releases the lease, because otherwise the next holder would wait until it expires. On a stop the lease is released while the work
    // is still ending. That is safe: each fenced write of the work commits before the next holder takes the lease, or is refused.
    .then(() => command(deps, (tx, now) => releaseLease(tx, lease, now)))
    .catch(() => {});
  try {
    await work(lease, signal);
  } finally {
    lost.abort();
    await released;
  }
  return true;
}

async function renew(deps: LeaseDeps, lease: Lease, signal: AbortSignal): Promise<void> {
  const leaseMs = leaseMsOf(deps);
  let heldUntilMs = deps.world.clock.nowMs() + leaseMs;
  while (!signal.aborted) {
    await deps.world.timers.sleep(leaseMs * RENEWED_AFTER, signal);
    if (signal.aborted) return;
    const untilMs = deps.world.clock.nowMs() + leaseMs;
    try {
      if (!(await command(deps, (tx) => extendLease(tx, lease, new Date(untilMs))))) {
        throw new LeaseLostError(lease.name);
      }
      heldUntilMs = untilMs;
    } catch (error) {
      // The database may be unreachable for a moment. The lease stays valid until it expires.
      if (error instanceof LeaseLostError || deps.world.clock.nowMs() >= heldUntilMs) throw error;
    }
  }
}

/** Does the work in a database transaction that only the present holder of the lease can commit. */
export function commandOfLeader<T>(
  deps: CommandDeps,
  lease: Lease,
  work: (tx: Tx, now: Date) => Promise<T>,
): Promise<T> {
  return command(deps, async (tx, now) => {
    if (!(await lockLease(tx, lease))) throw new LeaseLostError(lease.name);
    return work(tx, now);
  });
}
