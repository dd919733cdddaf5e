import type { Chains, ConnectedChain } from '../../chains/chains.ts';
import type { Mode } from '../../domain/mode.ts';

/** The networks that take payments of a mode: play money pays for nothing live, and a test takes no real money. */
export function servedNetworks({ chains }: { readonly chains: Chains }, mode: Mode): readonly ConnectedChain[] {
  return chains.list().filter(({ chain: { network }, relayers }) => {
    return network.mode === mode && network.finality !== undefined && relayers.length > 0;
  });
}
