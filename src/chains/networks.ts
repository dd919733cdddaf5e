import type { Mode } from '../domain/mode.ts';

/** A chain Till knows. Networks are data: adding one is adding a record. */
export interface Network {
  /** CAIP-2. */
  readonly chainId: string;
  readonly name: string;
  /** Test networks carry play money: live keys may not name their assets. */
  readonly mode: Mode;
  /** The SLIP-44 number of the coin that gas is paid with; missing where that is Ether. */
  readonly coinType?: number;
  /** Where people look at its transactions: the URL of one is this and its hash. */
  readonly explorer?: string;
  /** When a payment on it counts; missing where Till cannot take payments yet. */
  readonly finality?: Finality;
  /** Its one endpoint is a process of our own, with nobody to lie for: no second one has to confirm what it says. */
  readonly isTrustedAlone?: true;
  /** The least a block builder takes per unit of gas, in the smallest unit of the coin; missing where anything goes. */
  readonly minTip?: bigint;
  /** Gas also pays for the data of a transaction on Ethereum, at a price that moves. */
  readonly gasPaysForData?: true;
}

export interface Finality {
  readonly blockTimeMs: number;
  /** The number of blocks from a payment's block to the head, both counted: 1 is the head. */
  readonly depth: number;
  /** Why that is enough. */
  readonly reason: string;
  /** Which of its own words for finality the network's nodes know. */
  readonly tags?: readonly FinalityTag[];
  /** What larger payments need besides. */
  readonly tiers?: readonly FinalityTier[];
  /** Up to which weight one endpoint alone is believed, at three times the depth; see `finality.ts` if undefined. */
  readonly loneCeiling?: bigint;
}

/** Holds for payments of that weight (`weight.ts`) and above. */
export interface FinalityTier {
  readonly from: bigint;
  readonly depth?: number;
  readonly tag?: FinalityTag;
}

/** How nodes name the newest block that the network itself calls safe, or will never take back. */
export type FinalityTag = 'safe' | 'finalized';

const SEQUENCED = 'one sequencer orders all blocks; only its failure has ever taken some back, and then the last ones';
const TAGS: readonly FinalityTag[] = ['safe', 'finalized'];
/** From how much on a payment lies deeper than others. */
const LARGE = 10_000n;
const ROLLUP_2S: Finality = {
  blockTimeMs: 2_000,
  depth: 5,
  reason: SEQUENCED,
  tags: TAGS,
  tiers: [{ from: LARGE, depth: 15 }],
};
const ARBITRUM: Finality = {
  blockTimeMs: 250,
  depth: 20,
  reason: SEQUENCED,
  tags: TAGS,
  tiers: [{ from: LARGE, depth: 120 }],
};
const ETHEREUM: Finality = {
  blockTimeMs: 12_000,
  depth: 2,
  reason: 'since the Merge, blocks that a second one was built on have been taken back only in rare incidents',
  tags: TAGS,
  tiers: [{ from: LARGE, depth: 3 }],
};
const POLYGON: Finality = {
  blockTimeMs: 2_000,
  depth: 12,
  reason: 'validators vote for milestones every few blocks, and no reorganisation reaches behind one',
  tags: ['finalized'],
  tiers: [{ from: LARGE, depth: 20 }],
};
const POLYGON_MIN_TIP = 25_000_000_000n;
const POL = 966;
const SOL = 501;

/**
 * Depths keep the time from confirm to succeeded under 45 seconds on every network, because wallets give up after 60.
 * Operators may ask for more.
 */
export const NETWORKS: readonly Network[] = [
  { chainId: 'eip155:1', name: 'Ethereum', mode: 'live', explorer: 'https://etherscan.io/tx/', finality: ETHEREUM },
  {
    chainId: 'eip155:10',
    name: 'Optimism',
    mode: 'live',
    explorer: 'https://optimistic.etherscan.io/tx/',
    finality: ROLLUP_2S,
  },
  {
    chainId: 'eip155:56',
    name: 'BNB Smart Chain',
    mode: 'live',
    coinType: 714,
    explorer: 'https://bscscan.com/tx/',
    finality: {
      blockTimeMs: 750,
      depth: 12,
      reason: 'fast finality: two thirds of the validators have voted after 2 blocks',
      tags: TAGS,
      tiers: [{ from: LARGE, depth: 40 }],
    },
    minTip: 50_000_000n,
  },
  {
    chainId: 'eip155:137',
    name: 'Polygon',
    mode: 'live',
    coinType: POL,
    explorer: 'https://polygonscan.com/tx/',
    finality: POLYGON,
    minTip: POLYGON_MIN_TIP,
  },
  {
    chainId: 'eip155:143',
    name: 'Monad',
    mode: 'live',
    coinType: 268_435_779,
    explorer: 'https://monadscan.com/tx/',
    finality: {
      blockTimeMs: 400,
      depth: 6,
      reason: 'a block is final when two more have been agreed on',
      tags: TAGS,
      tiers: [{ from: LARGE, depth: 25 }],
    },
  },
  { chainId: 'eip155:8453', name: 'Base', mode: 'live', explorer: 'https://basescan.org/tx/', finality: ROLLUP_2S },
  {
    chainId: 'eip155:42161',
    name: 'Arbitrum',
    mode: 'live',
    explorer: 'https://arbiscan.io/tx/',
    finality: ARBITRUM,
    gasPaysForData: true,
  },
  {
    chainId: 'eip155:42220',
    name: 'Celo',
    mode: 'live',
    coinType: 52_752,
    explorer: 'https://celoscan.io/tx/',
    finality: {
      blockTimeMs: 1_000,
      depth: 10,
      reason: SEQUENCED,
      tags: TAGS,
      tiers: [{ from: LARGE, depth: 30 }],
    },
  },
  {
    chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    name: 'Solana',
    mode: 'live',
    coinType: SOL,
    explorer: 'https://solscan.io/tx/',
  },
  {
    chainId: 'eip155:31337',
    name: 'Till Sandbox',
    mode: 'test',
    isTrustedAlone: true,
    finality: { blockTimeMs: 1_000, depth: 1, reason: 'one process makes all blocks, and takes none back' },
  },
  {
    chainId: 'eip155:11155111',
    name: 'Sepolia',
    mode: 'test',
    explorer: 'https://sepolia.etherscan.io/tx/',
    finality: ETHEREUM,
  },
  {
    chainId: 'eip155:11155420',
    name: 'Optimism Sepolia',
    mode: 'test',
    explorer: 'https://sepolia-optimism.etherscan.io/tx/',
    finality: ROLLUP_2S,
  },
  {
    chainId: 'eip155:80002',
    name: 'Polygon Amoy',
    mode: 'test',
    coinType: POL,
    explorer: 'https://amoy.polygonscan.com/tx/',
    finality: POLYGON,
    minTip: POLYGON_MIN_TIP,
  },
  {
    chainId: 'eip155:84532',
    name: 'Base Sepolia',
    mode: 'test',
    explorer: 'https://sepolia.basescan.org/tx/',
    finality: ROLLUP_2S,
  },
  {
    chainId: 'eip155:421614',
    name: 'Arbitrum Sepolia',
    mode: 'test',
    explorer: 'https://sepolia.arbiscan.io/tx/',
    finality: ARBITRUM,
    gasPaysForData: true,
  },
  { chainId: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', name: 'Solana Devnet', mode: 'test', coinType: SOL },
  { chainId: 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z', name: 'Solana Testnet', mode: 'test', coinType: SOL },
];

const NETWORK_BY_ID = new Map(NETWORKS.map((network) => [network.chainId, network]));

export function findNetwork(chainId: string): Network | undefined {
  return NETWORK_BY_ID.get(chainId);
}

/** True if the chain is a known test network. */
export function isTestNetwork(chainId: string): boolean {
  return findNetwork(chainId)?.mode === 'test';
}
