import { findTransaction } from './blocks.ts';
import { DeploymentError } from './deployment-error.ts';
import type { EvmContext } from './evm-context.ts';
import type { Hex } from './rpc-values.ts';

/** The longest wait for a block. Mining can take minutes while fees rise. */
const MINED_WITHIN_MS = 300_000;
const DEFAULT_BLOCK_MS = 1_000;

/** Waits until a transaction is in a block, whether it succeeded or not. */
export async function waitUntilMined(context: EvmContext, hash: Hex): Promise<void> {
  const pauseMs = Math.max(100, (context.network.finality?.blockTimeMs ?? DEFAULT_BLOCK_MS) / 2);
  for (let waitedMs = 0; waitedMs < MINED_WITHIN_MS; waitedMs += pauseMs) {
    if ((await findTransaction(context, hash)).is === 'mined') return;
    await context.world.timers.sleep(pauseMs);
  }
  throw new DeploymentError(`Transaction ${hash} has not been mined yet: check again later.`);
}
