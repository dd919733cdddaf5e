import { sandboxFirstBlock, sandboxGenesis } from './genesis.ts';
import { createLocalEvm, type LocalEvm, type LocalEvmOptions } from './local-evm.ts';

/**
 * A new sandbox chain with the Collector, Permit2, the tokens, and accounts with large balances of every asset. The function is
 * in a file of its own, because it imports the EVM, which only a sandbox has installed. Every gateway imports `genesis.ts`, for
 * its accounts.
 */
export async function createSandboxEvm(options: Omit<LocalEvmOptions, 'genesis' | 'firstBlock'>): Promise<LocalEvm> {
  const firstBlock = await sandboxFirstBlock(options.chainId ?? 31337);
  return createLocalEvm({ ...options, genesis: sandboxGenesis(), firstBlock });
}
