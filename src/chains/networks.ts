import type { Mode } from '../domain/mode.ts';

export const SANDBOX_NETWORK = 'eip155:31337';

/** A chain known to Till. Networks are data, so a new network is a new record. */
export interface Network {
  /** CAIP-2. */
  readonly chainId: string;
  readonly name: string;
  /** Test networks have worthless money, so live keys may not name their assets. */
  readonly mode: Mode;
  /** The SLIP-44 number of the gas coin. Undefined for Ether. */
  readonly coinType?: number;
  /** The URL of the block explorer up to the transaction hash. */
  readonly explorer?: string;
  /** The rules for the finality of a payment. Undefined where Till cannot accept payments yet. */
  readonly finality?: Finality;
  /** True if the only endpoint is our own process. It has no reason to lie, so no second endpoint has to confirm its answers. */
  readonly isTrustedAlone?: true;
  /** The lowest tip per gas that block builders accept, in the smallest unit of the coin. Undefined without a minimum. */
  readonly minTip?: bigint;
  /** The highest tip per unit of gas, whatever endpoints report. The default is in `evm/fees.ts`. */
  readonly maxTip?: bigint;
  /** True if the gas limit must also cover the transaction's data on Ethereum, at a variable price. */
  readonly gasPaysForData?: true;
}

export interface Finality {
  readonly blockTimeMs: number;
  /** The number of blocks from a payment's block to the head, including both. 1 means that the head is enough. */
  readonly depth: number;
  /** The reason why this depth is enough. */
  readonly reason: string;
  /** The finality tags that the network's nodes support. */
  readonly tags?: readonly FinalityTag[];
  readonly tiers?: readonly FinalityTier[];
  /** The highest weight (`weight.ts`) for which one endpoint is enough, at three times the depth. Default: `finality.ts`. */
  readonly loneCeiling?: bigint;
}

/** Applies to payments of this weight (`weight.ts`) and above. */
export interface FinalityTier {
  readonly from: bigint;
  readonly depth?: number;
  readonly tag?: FinalityTag;
}

/** The block tags of nodes: the newest block that the network considers safe, or irreversible. */
export type FinalityTag = 'safe' | 'finalized';

const SEQUENCED = 'one sequencer orders all blocks; only its failure has ever taken some back, and then the last ones';
const TAGS: readonly FinalityTag[] = ['safe', 'finalized'];
/** The weight from which a payment needs more depth. */
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
/** In busy hours tips rise to some hundred gwei, and POL is cheap. */
const POLYGON_MAX_TIP = 1_000_000_000_000n;
/** Sequencers order by arrival, or by tips of about a thousandth of this. */
const ROLLUP_MAX_TIP = 1_000_000_000n;
/** MON is cheap, and its usual gas price is a hundred gwei. */
const MONAD_MAX_TIP = 500_000_000_000n;
const POL = 966;
const SOL = 501;

/**
 * Depths keep the time from confirm to succeeded below 45 seconds on every network, because wallets give up after 60 seconds.
 * Operators may require more.
 */
export const NETWORKS: readonly Network[] = [
  { chainId: 'eip155:1', name: 'Ethereum', mode: 'live', explorer: 'https://etherscan.io/tx/', finality: ETHEREUM },
  {
    chainId: 'eip155:10',
    name: 'Optimism',
    mode: 'live',
    explorer: 'https://optimistic.etherscan.io/tx/',
    finality: ROLLUP_2S,
    maxTip: ROLLUP_MAX_TIP,
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
    maxTip: POLYGON_MAX_TIP,
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
    maxTip: MONAD_MAX_TIP,
  },
  {
    chainId: 'eip155:8453',
    name: 'Base',
    mode: 'live',
    explorer: 'https://basescan.org/tx/',
    finality: ROLLUP_2S,
    maxTip: ROLLUP_MAX_TIP,
  },
  {
    chainId: 'eip155:42161',
    name: 'Arbitrum',
    mode: 'live',
    explorer: 'https://arbiscan.io/tx/',
    finality: ARBITRUM,
    maxTip: ROLLUP_MAX_TIP,
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
    chainId: SANDBOX_NETWORK,
    name: 'Till Sandbox',
    mode: 'test',
    isTrustedAlone: true,
    finality: {
      blockTimeMs: 1_000,
      depth: 1,
      reason: 'one process makes all blocks, and takes one back only to rehearse it',
    },
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
    maxTip: ROLLUP_MAX_TIP,
  },
  {
    chainId: 'eip155:80002',
    name: 'Polygon Amoy',
    mode: 'test',
    coinType: POL,
    explorer: 'https://amoy.polygonscan.com/tx/',
    finality: POLYGON,
    minTip: POLYGON_MIN_TIP,
    maxTip: POLYGON_MAX_TIP,
  },
  {
    chainId: 'eip155:84532',
    name: 'Base Sepolia',
    mode: 'test',
    explorer: 'https://sepolia.basescan.org/tx/',
    finality: ROLLUP_2S,
    maxTip: ROLLUP_MAX_TIP,
  },
  {
    chainId: 'eip155:421614',
    name: 'Arbitrum Sepolia',
    mode: 'test',
    explorer: 'https://sepolia.arbiscan.io/tx/',
    finality: ARBITRUM,
    maxTip: ROLLUP_MAX_TIP,
    gasPaysForData: true,
  },
  { chainId: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', name: 'Solana Devnet', mode: 'test', coinType: SOL },
  { chainId: 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z', name: 'Solana Testnet', mode: 'test', coinType: SOL },
];

const NETWORK_BY_ID = new Map(NETWORKS.map((network) => [network.chainId, network]));

export function findNetwork(chainId: string): Network | undefined {
  return NETWORK_BY_ID.get(chainId);
}

export function isTestNetwork(chainId: string): boolean {
  return findNetwork(chainId)?.mode === 'test';
}
