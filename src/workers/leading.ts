import { type Alarms, createAlarms } from '../actions/alarms.ts';
import { type LeaseDeps, LeaseLostError, leaseMsOf, whileLeading } from '../actions/lease.ts';
import { ChainUnavailableError } from '../chains/chain-errors.ts';
import { backoffMs, withJitter } from '../runtime/backoff.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Lease } from '../store/plumbing/leases.ts';

/** The pause between two attempts to take a lease, as a share of the lease's length. */
const TAKEN_AFTER = 0.1;
const RETRY = { firstMs: 200, maxMs: 5_000 };
/** A stop waits this long for a round. A round that is cut off loses nothing: every effect is stored before it happens. */
const STOP_WAIT_MS = 5_000;
/** The number of failures in a row that raises an alert. With the backoff they take about half a minute. */
const FAILURES_UNTIL_ALERT = 10;

/** Work that only one node may do at a time, in rounds. */
export interface LedWork {
  /** The name of the lease. */
  readonly name: string;
  /** False while this node must leave the work to other nodes: it takes no lease, and gives back a lease that it holds. */
  readonly mayLead?: () => boolean;
  /** Called when this node becomes the leader. While it leads, the returned function is called for each round. */
  readonly start: (lease: Lease, signal: AbortSignal) => (signal: AbortSignal) => Promise<void>;
  /** Called after each round, with the error of a failed round, otherwise with undefined. */
  readonly onRound?: (error: unknown) => Promise<void>;
}

/** Does each work whenever this node holds the lease of that work. The returned function stops all work on this node. */
export function startLeading(
  deps: LeaseDeps & { readonly metrics: Metrics },
  works: readonly LedWork[],
): () => Promise<void> {
  const stop = new AbortController();
  const leadingDeps = { ...deps, failing: createAlarms(deps, 'job_failing') };
  const loops = Promise.all(works.map((work) => leadForever(leadingDeps, work, stop.signal)));
  return async () => {
    stop.abort();
    await Promise.race([loops, deps.world.timers.sleep(STOP_WAIT_MS)]);
  };
}

type LeadingDeps = LeaseDeps & { readonly metrics: Metrics; readonly failing: Alarms };

async function leadForever(deps: LeadingDeps, work: LedWork, stop: AbortSignal): Promise<void> {
  const held = deps.metrics.leasesHeld;
  while (!stop.aborted) {
    try {
      if (work.mayLead?.() !== false) {
        await whileLeading(deps, work.name, stop, (lease, signal) => {
          held.set({ lease: work.name }, 1);
          return runRounds(deps, work, lease, signal);
        });
      }
    } catch (error) {
      deps.log.warn({ lease: work.name, err: error }, 'leading failed');
    } finally {
      held.remove({ lease: work.name });
    }
    await deps.world.timers.sleep(withJitter(deps.world, leaseMsOf(deps) * TAKEN_AFTER), stop);
  }
}

async function runRounds(deps: LeadingDeps, work: LedWork, lease: Lease, signal: AbortSignal): Promise<void> {
  const round = work.start(lease, signal);
  for (let failures = 0; !signal.aborted && work.mayLead?.() !== false; ) {
    try {
      await round(signal);
      failures = 0;
      await work.onRound?.(undefined);
      await deps.failing.set(work.name, undefined);
    } catch (error) {
      if (error instanceof LeaseLostError) return;
      failures += 1;
      const isAway = error instanceof ChainUnavailableError;
      deps.log[isAway ? 'info' : 'warn']({ lease: work.name, failures, err: error }, 'a round failed');
      await work.onRound?.(error)?.catch(() => {});
      // An unreachable chain raises no alert here, but one of its own. If the database is unreachable, the alert cannot be stored.
      const message = `The work ${work.name} failed ${failures} times in a row.`;
      if (!isAway && failures >= FAILURES_UNTIL_ALERT) await deps.failing.set(work.name, message).catch(() => {});
      await deps.world.timers.sleep(withJitter(deps.world, backoffMs(RETRY, failures)), signal);
    }
  }
}

/** A name with which a node holds leases: random, after the host of this process if it is known. */
export function newHolder({ world, host }: Pick<LeaseDeps, 'world'> & { readonly host?: string }): string {
  const name = Buffer.from(world.random.bytes(12)).toString('hex');
  return host === undefined ? name : `${host}/${name}`;
}
