import { hostname } from 'node:os';
import { createAlarms } from './actions/alarms.ts';
import type { CommandDeps } from './actions/command.ts';
import { findGenesis } from './actions/records/find-genesis.ts';
import type { RecordMemory } from './actions/records/remember-records.ts';
import { OtherSandboxChainError, rememberSandboxChain } from './actions/remember-sandbox-chain.ts';
import { ATTEMPT_LIMITS } from './actions/webhooks/attempt.ts';
import type { ChainCheck } from './chains/chain-check.ts';
import type { ChainReader } from './chains/chain-reader.ts';
import { type ConnectedChains, connectChains } from './chains/connect.ts';
import { assetsOf } from './chains/registry.ts';
import { MODES, type Mode } from './domain/mode.ts';
import { isAllowedReceiver } from './domain/webhook-url.ts';
import { createExchange, type Exchange } from './guarded-http/exchange.ts';
import { followRates } from './rates/follow-rates.ts';
import { NO_RATES, type Rates } from './rates/rates.ts';
import { sandboxRates } from './rates/sandbox-rates.ts';
import { steadyClock } from './runtime/system-world.ts';
import { openTelemetry, type Telemetry } from './runtime/telemetry.ts';
import type { Log } from './runtime/world.ts';
import { SANDBOX_NETWORK } from './sandbox/sandbox-network.ts';
import { followScreeningList } from './screening/follow-list.ts';
import { NO_SCREENING, type Screening } from './screening/screening.ts';
import { chainTerms, isSandbox, type NetworkInUse } from './settings/chains.ts';
import type { Config } from './settings/config.ts';
import { configuredSources } from './settings/rates.ts';
import { allowsLocalReceivers } from './settings/webhooks.ts';

interface Base extends CommandDeps {
  readonly config: Config;
  readonly log: Log;
}
type OnStop = (down: () => Promise<void>) => void;

/**
 * Connects the networks. Our own sandbox chain must be the chain that this database was first used with, or the start fails. A
 * sandbox chain of another node may not answer yet: it is left out until it answers and is the right chain.
 */
export async function connectNetworks(
  base: Base & { readonly records: RecordMemory },
  input: {
    readonly networks: readonly NetworkInUse[];
    readonly ownChain: { readonly genesisHash: string } | undefined;
  },
): Promise<ConnectedChains> {
  if (input.ownChain !== undefined) await rememberSandboxChain(base, input.ownChain.genesisHash);
  const { records } = base;
  const terms = chainTerms({ ...base, genesisOf: records.genesisOf }, input.networks).map((each) => {
    const isSandboxChain = each.chain.network.chainId === SANDBOX_NETWORK;
    const objection = () =>
      isSandboxChain ? otherSandbox(base, each.chain.reader) : otherNetwork(records, each.chain.reader);
    return { ...each, objection, admit: records.admit };
  });
  return connectChains({ ...base, onChecked: createCheckAlarms(base) }, terms);
}

/** Raises and clears the alerts about switched-off assets, networks without a Collector, and endpoints that disagree on contracts. */
function createCheckAlarms(base: Base): (network: string, check: ChainCheck) => Promise<void> {
  // Alerts are per node, because nodes may have different endpoints, and different versions know different assets.
  const assets = createAlarms(base, 'asset_switched_off', { isPerNode: true });
  const networks = createAlarms(base, 'network_not_as_known', { isPerNode: true });
  const disputed = createAlarms(base, 'endpoints_disagree', { isPerNode: true });
  return async (network, { unchecked, problems, disputes }) => {
    const about = (subject: string) => problems.find((problem) => problem.subject === subject)?.message;
    await networks.set(network, about(network));
    const more = disputes.length > 1 ? ` There are ${disputes.length - 1} more.` : '';
    await disputed.set(`${network} contracts`, disputes[0] && `${disputes[0]}${more}`);
    for (const { id } of assetsOf(base.registry, network)) if (!unchecked.includes(id)) await assets.set(id, about(id));
  };
}

async function otherSandbox(base: Base, reader: ChainReader): Promise<string | undefined> {
  const genesis = await reader.block(0);
  try {
    if (genesis !== undefined) await rememberSandboxChain(base, genesis.hash);
    return undefined;
  } catch (error) {
    if (error instanceof OtherSandboxChainError) return `Nothing is offered: ${error.message}`;
    throw error;
  }
}

/**
 * The reason why the endpoints serve another network than the remembered one. A network is remembered at its first use, with its
 * block 0.
 */
async function otherNetwork(records: RecordMemory, reader: ChainReader): Promise<string | undefined> {
  const shown = await findGenesis(reader);
  if ('dispute' in shown) return shown.dispute;
  return records.admitNetwork(reader.network.chainId, shown.genesis);
}

/** Rates from the configured sources. A sandbox without sources uses a fixed table. */
export function openRates(base: Base, networks: readonly NetworkInUse[], onStop: OnStop): Rates {
  const sources = configuredSources(base, networks);
  if (sources.length === 0) return isSandbox(base.config) ? sandboxRates() : NO_RATES;
  const alarms = createAlarms(base, 'rate_missing', { isPerNode: true });
  const rates = followRates({ ...base, sources, report: alarms.set });
  onStop(() => rates.stop());
  return rates;
}

/** HTTP clients for webhooks, by mode. They reach public addresses only, and for test data of a sandbox also this machine. */
export function openReceivers({ config, world }: Pick<Base, 'config' | 'world'>): (mode: Mode) => Exchange {
  const exchanges = MODES.map((mode) => {
    const allowsLocal = allowsLocalReceivers(config, mode);
    const isAllowed = (address: string) => isAllowedReceiver(address, { allowsLocal });
    return [mode, createExchange({ timers: world.timers, isAllowed }, ATTEMPT_LIMITS)] as const;
  });
  const byMode = Object.fromEntries(exchanges) as Record<Mode, Exchange>;
  return (mode) => byMode[mode];
}

/** The configured screening list. The start fails if the list cannot be read. */
export async function openScreening(base: Base, onStop: OnStop): Promise<Screening> {
  const path = base.config.screeningList;
  if (path === undefined) return NO_SCREENING;
  const alarms = createAlarms(base, 'screening_list', { isPerNode: true });
  const screening = await followScreeningList({
    ...base,
    path,
    report: (problem) => alarms.set(path, problem),
  });
  onStop(() => screening.stop());
  return screening;
}

/** Opens the sending of traces. Its packages are loaded only by a node with a configured receiver. */
export async function openTraces(config: Config, log: Log): Promise<Telemetry | undefined> {
  const { otlpEndpoint: endpoint, otlpHeaders: headers = {}, tracesShare: share, traceService: service } = config;
  if (endpoint === undefined) return undefined;
  return openTelemetry({ endpoint, headers, share, service, node: hostname(), log, clock: steadyClock });
}
