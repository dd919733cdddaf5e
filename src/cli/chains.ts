import { join } from 'node:path';
import type { Chains, ConnectedChain } from '../chains/chains.ts';
import { ApiError } from '../errors.ts';
import { runningSandboxChain } from '../sandbox/chain-process.ts';
import { chainTerms, type NetworkInUse, needsOwnChain, networksInUse } from '../settings/chains.ts';
import type { Context } from './connect.ts';

type ChainsContext = Pick<Context, 'config' | 'world' | 'log'>;

/** The configured networks. If none is configured, the chain of the sandbox that runs on this machine. */
export async function configuredNetworks({ config }: Pick<Context, 'config'>): Promise<NetworkInUse[]> {
  const sandbox = needsOwnChain(config) ? await runningSandboxChain(join(config.home, 'chain')) : undefined;
  if (needsOwnChain(config) && sandbox === undefined) {
    throw new ApiError(
      'invalid_state',
      'No network is configured, and no sandbox chain runs: start the gateway first, or set RPC_URLS.',
    );
  }
  return networksInUse(config, sandbox);
}

/**
 * Runs `work` with the configured networks and their accounts. The networks are not checked first: a command makes only the RPC
 * calls that it needs.
 */
export async function withChains<T>(context: ChainsContext, work: (chains: Chains) => Promise<T>): Promise<T> {
  return withNetworks(context, await configuredNetworks(context), work);
}

/** Like `withChains`, for commands that also work without a network: `work` then gets an empty list. */
export async function withKnownChains<T>(context: ChainsContext, work: (chains: Chains) => Promise<T>): Promise<T> {
  return withNetworks(context, await knownNetworks(context), work);
}

/** Like `configuredNetworks`, but returns an empty list instead of throwing if there is no network. */
export function knownNetworks(context: ChainsContext): Promise<NetworkInUse[]> {
  return configuredNetworks(context).catch((error: unknown) => {
    if (error instanceof ApiError) return [];
    throw error;
  });
}

async function withNetworks<T>(
  context: ChainsContext,
  networks: readonly NetworkInUse[],
  work: (chains: Chains) => Promise<T>,
): Promise<T> {
  const terms = chainTerms(context, networks);
  const list: ConnectedChain[] = terms.map((each) => ({ ...each, payable: () => [], problems: () => [] }));
  try {
    return await work({
      find: (network) => list.find(({ chain }) => chain.network.chainId === network),
      list: () => list,
    });
  } finally {
    for (const { chain } of list) chain.close();
  }
}
