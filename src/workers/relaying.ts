import { createAlarms } from '../actions/alarms.ts';
import type { SecretDeps } from '../actions/open-receipt-key.ts';
import type { RecordStanding } from '../actions/record-standing.ts';
import { relayOnce } from '../actions/relay/relay-once.ts';
import { newMemory, type RelayDeps, type RelaySettings, relayLeaseName } from '../actions/relay/relayer.ts';
import type { RowKeyDeps } from '../actions/row-keys.ts';
import type { Chains, ConnectedChain } from '../chains/chains.ts';
import type { EventFeed } from '../store/events/event-feed.ts';
import { type LedWork, newHolder, startLeading } from './leading.ts';
import type { WorkerDeps } from './loop.ts';
import { createWake, wakeByChanges } from './wake.ts';

export interface RelayingDeps extends WorkerDeps, RowKeyDeps, SecretDeps {
  readonly chains: Chains;
  /** Wakes the relayers: a payment that changed may have an item to send. */
  readonly feed: EventFeed;
  readonly relaying?: RelaySettings;
  readonly standing: RecordStanding;
}

/** Sends the due items of every network with each of its relayers. The returned function stops this work on this node. */
export function startRelaying(deps: RelayingDeps): () => Promise<void> {
  const { metrics } = deps;
  const relayDeps: RelayDeps = {
    ...deps,
    holder: newHolder(deps),
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
    price: createAlarms(deps, 'gas_price_above_cap'),
    budget: createAlarms(deps, 'gas_budget_spent'),
    counts: createAlarms(deps, 'endpoints_disagree'),
  };
  const wake = createWake(deps.world.timers);
  wakeByChanges(deps.feed, wake);
  return startLeading(
    { ...relayDeps, metrics },
    deps.chains.list().flatMap((connected) => worksOf(connected)),
  );

  function worksOf({ chain, relayers, intermediateSigner, otherIntermediates = [] }: ConnectedChain): LedWork[] {
    const peers = relayers.map(({ address }) => address);
    // A relayer cannot send coins of another account, so each intermediate account sends its own coins.
    const own = [...(intermediateSigner === undefined ? [] : [intermediateSigner]), ...otherIntermediates];
    const separate = own.filter(({ address }) => !peers.includes(address));
    const carriers = [
      ...relayers.map((signer) => ({ signer, isCoinOnly: false })),
      ...separate.map((signer) => ({ signer, isCoinOnly: true })),
    ];
    return carriers.map(({ signer, isCoinOnly }) => {
      const id = { network: chain.network.chainId, signer: signer.address };
      const nap = wake.sleeper();
      return {
        name: relayLeaseName(id),
        mayLead: deps.standing.isInForce,
        start: (lease) => {
          const relayer = { chain, signer, id, peers, isCoinOnly, lease, alarms, memory: newMemory() };
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
