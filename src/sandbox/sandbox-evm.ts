import { sandboxFirstBlock, sandboxGenesis } from './genesis.ts';
import { createLocalEvm, type LocalEvm, type LocalEvmOptions } from './local-evm.ts';

/**
 * A new sandbox chain with the Collector, Permit2, the tokens, and accounts with large balances of every asset. It has a file
 * of its own: every gateway needs the accounts of the genesis, and only the sandbox has the EVM installed.
 */
export async function createSandboxEvm(options: Omit<LocalEvmOptions, 'genesis' | 'firstBlock'>): Promise<LocalEvm> {
  const firstBlock = await sandboxFirstBlock(options.chainId ?? 31337);
  return createLocalEvm({ ...options, genesis: sandboxGenesis(), firstBlock });
}
