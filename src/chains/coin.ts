import { assetsOf } from './networks.ts';

/** The CAIP-19 id of a network's own coin, with which gas is paid. Where nobody can pay with it, it has no record. */
export function coinOf(network: string): string {
  return assetsOf(network).find(({ pay }) => pay?.method === 'native')?.id ?? `${network}/slip44:60`;
}
