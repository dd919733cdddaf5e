import { describePayingOn } from './paying-on-posing-chain.ts';

await describePayingOn('anvil', 'eip155:1');
