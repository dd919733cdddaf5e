import { describePosingChain } from './posing-chain-suite.ts';

/** Base has a token of each of these shapes: Agora's, Circle's, and the plain one of Wrapped Ether. */
await describePosingChain('hardhat', {
  networkId: 'eip155:8453',
  assets: {
    'eip3009-vrs': 'eip155:8453/erc20:0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a',
    'eip3009-bytes': 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    permit2: 'eip155:8453/erc20:0x4200000000000000000000000000000000000006',
    native: 'eip155:8453/slip44:60',
  },
  usedReason: 'used',
});
