import { findNetwork } from './networks.ts';

const ETHER = 60;

/** The CAIP-19 id of a network's own coin, with which gas is paid. Where nobody can pay with it, it has no other record. */
export function coinOf(network: string): string {
  return `${network}/slip44:${findNetwork(network)?.coinType ?? ETHER}`;
}
