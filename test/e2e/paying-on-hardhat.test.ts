import { describePayingOn } from './paying-on-posing-chain.ts';

await describePayingOn('hardhat', 'eip155:8453');
