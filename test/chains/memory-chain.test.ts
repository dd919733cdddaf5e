import { describeChain } from './conformance.ts';
import { createMemoryHarness } from './memory-harness.ts';

describeChain('the chain in memory', async () => createMemoryHarness());
