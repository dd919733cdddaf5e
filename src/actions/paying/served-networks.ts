import type { Chains, ConnectedChain } from '../../chains/chains.ts';
import type { Mode } from '../../domain/mode.ts';

export interface ServingDeps {
  readonly chains: Chains;
}

/** The networks that take payments of a mode: play money pays for nothing live, and a test takes no real money. */
export function servedNetworks({ chains }: ServingDeps, mode: Mode): readonly ConnectedChain[] {
  return chains.list().filter(({ chain: { network }, relayers }) => {
    return network.mode === mode && network.finality !== undefined && relayers.length > 0;
  });
}
