import { describePosingChain } from './posing-chain-suite.ts';

/** Ethereum has a token of each of these shapes: Paxos's, Circle's and Tether's. */
await describePosingChain('anvil', {
  networkId: 'eip155:1',
  assets: {
    'eip3009-vrs': 'eip155:1/erc20:0x6c3ea9036406852006290770BEdFcAbA0e23A0e8',
    'eip3009-bytes': 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    permit2: 'eip155:1/erc20:0xdAC17F958D2ee523a2206206994597C13D831ec7',
    native: 'eip155:1/slip44:60',
  },
  // Paxos's token moves nothing instead of reverting.
  usedReason: 'short_arrival',
});
