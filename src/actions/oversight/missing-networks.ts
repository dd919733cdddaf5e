import type { Chains } from '../../chains/chains.ts';
import type { Registry } from '../../chains/registry.ts';
import { findOpenNetworks } from '../../store/money/open-networks.ts';
import type { Reader } from '../../store/plumbing/database.ts';

/** A network with open work that is missing in the settings of this node. */
export interface MissingNetwork {
  readonly network: string;
  readonly message: string;
}

export async function findMissingNetworks(db: Reader, registry: Registry, chains: Chains): Promise<MissingNetwork[]> {
  const served = chains.list().map(({ chain }) => chain.network.chainId);
  const open = await findOpenNetworks(db, served);
  return open.map(({ network, hasItems, hasSends, hasOutgoing, hasRequests, hasMoney }) => {
    const work = [
      hasItems ? ['payments'] : [],
      hasSends ? ['transactions that are not mined'] : [],
      hasOutgoing ? ['payouts, refunds or returns'] : [],
      hasRequests ? ['refunds or returns that wait'] : [],
      hasMoney ? ['money of merchants'] : [],
    ].flat();
    const name = registry.network(network)?.name ?? network;
    return {
      network,
      message: `${name} (${network}) is not configured, and has open work: ${work.join('; ')}. Put it back into RPC_URLS until all of it has ended.`,
    };
  });
}
