import type { Chains, ConnectedChain } from '../../chains/chains.ts';
import type { Mode } from '../../domain/mode.ts';
import type { NetworkStop } from '../../store/parties/freezes.ts';
import type { FreshCache } from '../../store/plumbing/fresh-cache.ts';

export interface ServingDeps {
  readonly chains: Chains;
}

/** The networks that take payments of a mode: test money must not pay live payments, nor real money test payments. */
export function servedNetworks({ chains }: ServingDeps, mode: Mode): readonly ConnectedChain[] {
  return chains.list().filter(({ chain: { network }, relayers }) => {
    return network.mode === mode && network.finality !== undefined && relayers.length > 0;
  });
}

/** The served networks that are not frozen. */
export async function openNetworks(
  deps: ServingDeps & { readonly networkStops: FreshCache<NetworkStop> },
  mode: Mode,
): Promise<readonly ConnectedChain[]> {
  const served = servedNetworks(deps, mode);
  const stops = await Promise.all(served.map(({ chain }) => deps.networkStops.get(chain.network.chainId)));
  return served.filter((_, index) => stops[index]?.isFrozen !== true);
}
