import { REGISTRY } from './networks.ts';
import { coinOf as coinIn } from './registry.ts';

/** The CAIP-19 id of a network's native coin, which pays for gas. */
export function coinOf(network: string): string {
  return coinIn(REGISTRY, network);
}
