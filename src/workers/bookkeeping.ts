import { createAlarms } from '../actions/alarms.ts';
import { auditBooks, auditLeaseName } from '../actions/books/audit/audit-books.ts';
import { checkSolvency, solvencyLeaseName } from '../actions/books/audit/solvency.ts';
import { sealLeaseName, sealOnce } from '../actions/books/seal-entries.ts';
import type { LeaseDeps } from '../actions/lease.ts';
import type { RowKeyDeps } from '../actions/row-keys.ts';
import type { SubjectKeyDeps } from '../actions/subject-keys.ts';
import type { Chains, ConnectedChain } from '../chains/chains.ts';
import { isoText } from '../domain/wait-words.ts';
import { type LedWork, newHolder, startLeading } from './leading.ts';
import type { WorkerDeps } from './loop.ts';

/** Entries of the books are sealed within this time. */
const SEAL_EVERY_MS = 1_000;
const AUDIT_EVERY_MS = 60_000;
/** A balance that does not cover what the books owe is noticed within this time. Each check reads every account and asset twice. */
const COVER_EVERY_MS = 5_000;
/** The time for which audits may be impossible without an alert of the audit job. The cause, such as an endpoint that is down, has its own alert. */
const AUDIT_FAILING_MS = 10 * 60_000;

export interface BookkeepingDeps extends WorkerDeps, RowKeyDeps, SubjectKeyDeps {
  readonly chains: Chains;
}

/** Seals the books of every network and compares them with the chain. The returned function stops this work on this node. */
export function startBookkeeping(deps: BookkeepingDeps): () => Promise<void> {
  const leaseDeps: LeaseDeps & RowKeyDeps & SubjectKeyDeps = { ...deps, holder: newHolder(deps) };
  const alarms = createAlarms(deps, 'books_differ');
  const unread = createAlarms(deps, 'books_unread');
  const failing = createAlarms(deps, 'audit_failing');
  return startLeading(
    { ...leaseDeps, metrics: deps.metrics },
    // Separate jobs, because sealing must not wait for an unreachable chain.
    deps.chains.list().flatMap((connected) => [sealing(connected), auditing(connected), covering(connected)]),
  );

  function sealing({ chain }: ConnectedChain): LedWork {
    const network = chain.network.chainId;
    return {
      name: sealLeaseName(network),
      start: (lease) => async (signal) => {
        if (!(await sealOnce(leaseDeps, network, lease))) await deps.world.timers.sleep(SEAL_EVERY_MS, signal);
      },
    };
  }

  function covering(connected: ConnectedChain): LedWork {
    return {
      name: solvencyLeaseName(connected.chain.network.chainId),
      start: () => async (signal) => {
        await checkSolvency(leaseDeps, connected);
        await deps.world.timers.sleep(COVER_EVERY_MS, signal);
      },
    };
  }

  function auditing(connected: ConnectedChain): LedWork {
    const { chainId: network, name } = connected.chain.network;
    let auditedAtMs = 0;
    return {
      name: auditLeaseName(network),
      start: (lease) => {
        const audited = { connected, lease, alarms, unread, doubted: new Set<string>(), addresses: {} };
        auditedAtMs = deps.world.clock.nowMs();
        return async (signal) => {
          const hasMore = await auditBooks(leaseDeps, audited);
          auditedAtMs = deps.world.clock.nowMs();
          await failing.set(network, undefined);
          if (!hasMore) await deps.world.timers.sleep(AUDIT_EVERY_MS, signal);
        };
      },
      onRound: async (error) => {
        const isFailing = error !== undefined && deps.world.clock.nowMs() - auditedAtMs >= AUDIT_FAILING_MS;
        if (!isFailing) return;
        const message = `The books of ${name} could not be compared with the chain since ${isoText(auditedAtMs)}.`;
        await failing.set(network, message);
      },
    };
  }
}
