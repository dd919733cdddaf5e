import { clearAlert, raiseAlert } from './actions/alerts.ts';
import type { CommandDeps } from './actions/command.ts';
import { OtherSandboxChainError, rememberSandboxChain } from './actions/remember-sandbox-chain.ts';
import type { Chain } from './chains/chain.ts';
import { type ConnectedChains, connectChains } from './chains/connect.ts';
import { followRates } from './rates/follow-rates.ts';
import { createHttpSource } from './rates/http-source.ts';
import { NO_RATES, type Rates } from './rates/rates.ts';
import { sandboxRates } from './rates/sandbox-rates.ts';
import type { Log } from './runtime/world.ts';
import { followScreeningList } from './screening/follow-list.ts';
import { NO_SCREENING, type Screening } from './screening/screening.ts';
import { chainTerms, isSandbox, type NetworkInUse } from './settings/chains.ts';
import type { Config } from './settings/config.ts';
import { SANDBOX_NETWORK } from './settings/network-kinds.ts';

/** What the gateway asks of the world outside: chains, rates and lists, as they are configured. */

interface Base extends CommandDeps {
  readonly config: Config;
  readonly log: Log;
}
type OnStop = (down: () => Promise<void>) => void;

/**
 * Connects the networks. A chain of our own that is not the one this database goes with keeps the gateway from starting;
 * one of another node, which may not answer yet, is left out until it is the right one.
 */
export async function connectNetworks(
  base: Base,
  input: {
    readonly networks: readonly NetworkInUse[];
    readonly ownChain: { readonly genesisHash: string } | undefined;
  },
): Promise<ConnectedChains> {
  if (input.ownChain !== undefined) await rememberSandboxChain(base, input.ownChain.genesisHash);
  const terms = chainTerms(base, input.networks).map((each) =>
    each.chain.network.chainId === SANDBOX_NETWORK
      ? { ...each, objection: () => otherSandbox(base, each.chain) }
      : each,
  );
  return connectChains(base, terms);
}

async function otherSandbox(base: Base, chain: Chain): Promise<string | undefined> {
  const genesis = await chain.block(0);
  try {
    if (genesis !== undefined) await rememberSandboxChain(base, genesis.hash);
    return undefined;
  } catch (error) {
    if (error instanceof OtherSandboxChainError) return `Nothing is offered: ${error.message}`;
    throw error;
  }
}

/** The configured sources; in the sandbox, without any, a fixed table. */
export function openRates(base: Base, onStop: OnStop): Rates {
  const { config, world } = base;
  if (config.rateSources === undefined) return isSandbox(config) ? sandboxRates() : NO_RATES;
  const rates = followRates({
    ...base,
    sources: config.rateSources.map((source) => createHttpSource(world.timers, source)),
    onTrouble: (pair, message) => raiseAlert(base, { name: 'rate_missing', subject: pair, message }),
    onRecovered: (pair) => clearAlert(base, { name: 'rate_missing', subject: pair }),
  });
  onStop(() => rates.stop());
  return rates;
}

/** The configured list. One that cannot be read keeps the gateway from starting. */
export async function openScreening(base: Base, onStop: OnStop): Promise<Screening> {
  const path = base.config.screeningList;
  if (path === undefined) return NO_SCREENING;
  const alert = { name: 'screening_list', subject: path } as const;
  const screening = await followScreeningList({
    ...base,
    path,
    onTrouble: (message) => raiseAlert(base, { ...alert, message }),
    onRecovered: () => clearAlert(base, alert),
  });
  onStop(() => screening.stop());
  return screening;
}
