import { createAlarms } from '../actions/alarms.ts';
import type { PaymentMover } from '../actions/paying/payment-mover.ts';
import type { RowKeyDeps } from '../actions/row-keys.ts';
import type { SubjectKeyDeps } from '../actions/subject-keys.ts';
import { watchOnce } from '../actions/watch/watch-once.ts';
import { newWatchMemory, type WatchDeps, type WatchSettings, watchLeaseName } from '../actions/watch/watcher.ts';
import type { Chain } from '../chains/chain.ts';
import { ChainUnavailableError } from '../chains/chain-errors.ts';
import type { Chains } from '../chains/chains.ts';
import { blockTimeOf } from '../chains/finality.ts';
import { unshifted } from '../runtime/shifted-clock.ts';
import type { Screening } from '../screening/screening.ts';
import { hasOpenItems } from '../store/chain/due-items.ts';
import type { EventFeed } from '../store/events/event-feed.ts';
import { type LedWork, newHolder, startLeading } from './leading.ts';
import type { WorkerDeps } from './loop.ts';
import { createWake, wakeByChanges } from './wake.ts';
import { createPace } from './watch-pace.ts';

export interface WatchingDeps extends WorkerDeps, RowKeyDeps, SubjectKeyDeps {
  readonly chains: Chains;
  readonly movePayment: PaymentMover;
  readonly screening: Screening;
  /** Wakes the watchers: a payment that changed may need a check of its chain. */
  readonly feed: EventFeed;
  readonly watching?: WatchSettings;
}

const UNAVAILABLE_AFTER_MS = 60_000;

/** Reads every network and decides payments. The returned function stops this work on this node. */
export function startWatching(deps: WatchingDeps): () => Promise<void> {
  const { metrics } = deps;
  const watchDeps: WatchDeps = {
    ...deps,
    holder: newHolder(deps),
    settings: deps.watching ?? {},
    meters: {
      blocks: (network, { head, read, final }) => {
        metrics.chainBlocks.set({ network, which: 'head' }, head);
        metrics.chainBlocks.set({ network, which: 'read' }, read);
        metrics.chainBlocks.set({ network, which: 'final' }, final);
      },
      event: (network, outcome) => metrics.chainEvents.inc({ network, outcome }),
      reorg: (network, depth) => metrics.reorgBlocks.inc({ network }, depth),
    },
  };
  const undetermined = createAlarms(deps, 'payments_undetermined');
  const disputed = createAlarms(deps, 'endpoints_disagree');
  const alone = createAlarms(deps, 'endpoint_alone');
  const unavailable = createAlarms(deps, 'network_unavailable');
  const wake = createWake(deps.world.timers);
  wakeByChanges(deps.feed, wake);
  return startLeading(
    { ...watchDeps, metrics },
    deps.chains.list().map(({ chain }) => workOf(chain)),
  );

  function workOf(chain: Chain): LedWork {
    const network = chain.network.chainId;
    const blockTimeMs = blockTimeOf(chain.network);
    const { depth = 1 } = chain.network.finality ?? {};
    const rest = createPace({
      world: deps.world,
      blockTimeMs,
      isInUse: () => hasOpenItems(deps.db.sql, network),
      nap: wake.sleeper(),
    });
    const clock = unshifted(deps.world.clock);
    let answeredAtMs = clock.nowMs();
    return {
      name: watchLeaseName(network),
      start: (lease) => {
        const memory = newWatchMemory();
        const watcher = { chain, network, depth, lease, undetermined, disputed, alone, memory };
        answeredAtMs = clock.nowMs();
        return async (signal) => {
          if (!(await watchOnce(watchDeps, watcher))) await rest(signal);
        };
      },
      onRound: async (error) => {
        const nowMs = clock.nowMs();
        if (!(error instanceof ChainUnavailableError)) answeredAtMs = nowMs;
        const isAway = nowMs - answeredAtMs >= UNAVAILABLE_AFTER_MS;
        if (error === undefined || isAway) await unavailable.set(network, isAway ? UNAVAILABLE : undefined);
      },
    };
  }
}

const UNAVAILABLE = 'The network could not be read for more than a minute; its payments wait.';
