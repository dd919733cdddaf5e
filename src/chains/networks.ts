import type { Mode } from '../domain/mode.ts';

/** A chain Till knows. Networks are data: adding one is adding a record. */
export interface Network {
  /** CAIP-2. */
  readonly chainId: string;
  readonly name: string;
  /** Test networks carry play money: live keys may not name their assets. */
  readonly mode: Mode;
}

export const NETWORKS: readonly Network[] = [
  { chainId: 'eip155:1', name: 'Ethereum', mode: 'live' },
  { chainId: 'eip155:10', name: 'Optimism', mode: 'live' },
  { chainId: 'eip155:56', name: 'BNB Smart Chain', mode: 'live' },
  { chainId: 'eip155:137', name: 'Polygon', mode: 'live' },
  { chainId: 'eip155:143', name: 'Monad', mode: 'live' },
  { chainId: 'eip155:8453', name: 'Base', mode: 'live' },
  { chainId: 'eip155:42161', name: 'Arbitrum', mode: 'live' },
  { chainId: 'eip155:42220', name: 'Celo', mode: 'live' },
  { chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', name: 'Solana', mode: 'live' },
  { chainId: 'eip155:31337', name: 'Till Sandbox', mode: 'test' },
  { chainId: 'eip155:11155111', name: 'Sepolia', mode: 'test' },
  { chainId: 'eip155:11155420', name: 'Optimism Sepolia', mode: 'test' },
  { chainId: 'eip155:80002', name: 'Polygon Amoy', mode: 'test' },
  { chainId: 'eip155:84532', name: 'Base Sepolia', mode: 'test' },
  { chainId: 'eip155:421614', name: 'Arbitrum Sepolia', mode: 'test' },
  { chainId: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', name: 'Solana Devnet', mode: 'test' },
  { chainId: 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z', name: 'Solana Testnet', mode: 'test' },
];

/** Whether the chain is known to carry play money. */
export function isTestNetwork(chainId: string): boolean {
  return NETWORKS.some((network) => network.chainId === chainId && network.mode === 'test');
}
