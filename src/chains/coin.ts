import { findNetwork } from './networks.ts';

const ETHER = 60;

/** The CAIP-19 id of a network's native coin, which pays for gas. Coin that is no payable asset has no record in `assets.ts`. */
export function coinOf(network: string): string {
  return `${network}/slip44:${findNetwork(network)?.coinType ?? ETHER}`;
}
