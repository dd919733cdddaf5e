import { describeChain } from './conformance.ts';
import { createLocalEvmHarness } from './local-evm-harness.ts';

describeChain('the EVM adapter on a local EVM', createLocalEvmHarness);
