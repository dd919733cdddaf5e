import { createAlarms } from '../actions/alarms.ts';
import { relayOnce } from '../actions/relay/relay-once.ts';
import { newMemory, type RelayDeps, type RelaySettings, relayLeaseName } from '../actions/relay/relayer.ts';
import type { Chains, ConnectedChain } from '../chains/chains.ts';
import type { Timers } from '../deps.ts';
import type { PaymentFeed } from '../store/payment-feed.ts';
import { type LedWork, newHolder, startLeading } from './leading.ts';
import type { WorkerDeps } from './loop.ts';

export interface RelayingDeps extends WorkerDeps {
  readonly chains: Chains;
  /** A payment that moved may have an item to be sent. */
  readonly feed: PaymentFeed;
  readonly relaying?: RelaySettings;
}

/** Sends what is due on every network, by each of its relayers; the returned function stops it on this node. */
export function startRelaying(deps: RelayingDeps): () => Promise<void> {
  const { metrics } = deps;
  const relayDeps: RelayDeps = {
    ...deps,
    holder: newHolder(deps.world),
    settings: deps.relaying ?? {},
    meters: {
      signed: (network, why) => metrics.sends.inc({ network, why }),
      items: (network, outcome, count) => metrics.relayedItems.inc({ network, outcome }, count),
      inFlight: ({ network, signer }, count) => metrics.sendsInFlight.set({ network, signer }, count),
    },
  };
  const alarms = {
    lowBalance: createAlarms(deps, 'relayer_balance_low'),
    stuckSend: createAlarms(deps, 'send_stuck'),
    outOfFunds: createAlarms(deps, 'relayer_out_of_funds'),
  };
  const wake = createWake(deps.world.timers);
  deps.feed.subscribe(wake.all);
  return startLeading(
    relayDeps,
    deps.chains.list().flatMap((connected) => worksOf(connected)),
  );

  function worksOf({ chain, relayers }: ConnectedChain): LedWork[] {
    return relayers.map((signer, index) => {
      const id = { network: chain.network.chainId, signer: signer.address };
      const share = { index, of: relayers.length };
      const nap = wake.sleeper();
      return {
        name: relayLeaseName(id),
        start: (lease) => {
          const relayer = { chain, signer, id, share, lease, alarms, memory: newMemory() };
          return async (signal) => {
            const rest = await relayOnce(relayDeps, relayer);
            if (rest.canBeWoken) await nap(rest.ms, signal);
            else await deps.world.timers.sleep(rest.ms, signal);
          };
        },
      };
    });
  }
}

/** Sleep that news ends early, also news that came just before. */
function createWake(timers: Timers) {
  const sleepers = new Set<() => void>();
  return {
    all: () => {
      for (const wakeUp of sleepers) wakeUp();
    },
    sleeper(): (ms: number, signal: AbortSignal) => Promise<void> {
      let hasNews = false;
      let nap: AbortController | undefined;
      sleepers.add(() => {
        hasNews = true;
        nap?.abort();
      });
      return async (ms, signal) => {
        if (!hasNews) {
          nap = new AbortController();
          await timers.sleep(ms, AbortSignal.any([signal, nap.signal]));
        }
        hasNews = false;
      };
    },
  };
}
