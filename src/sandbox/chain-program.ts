import { systemWorld } from '../runtime/system-world.ts';
import { serveChain } from './chain-server.ts';
import { lockHome } from './home-lock.ts';
import { openKeptChain } from './kept-chain.ts';

/** The input of the chain's process, passed as JSON in its only argument. */
export interface ChainOrder {
  readonly dir: string;
  readonly port: number;
  readonly blockMs: number;
  readonly isScriptable: boolean;
  readonly pageOrigin?: string | undefined;
}

/** The message to the gateway: the genesis hash once the chain answers requests, or the reason why the chain cannot start. */
export type ChainReport = { readonly genesisHash: string } | { readonly code: string; readonly message: string };

if (import.meta.main) await main();

/** Runs the sandbox's chain. Everything it has answered is on disk, so the process may end at any moment. */
async function main(): Promise<void> {
  // The IPC channel closes when the gateway ends, even by kill -9. The chain is not needed any more then.
  process.on('disconnect', () => process.exit(0));
  process.on('SIGTERM', () => process.exit(0));
  try {
    const order = JSON.parse(process.argv[2] ?? '') as ChainOrder;
    report({ genesisHash: await serve(order) });
  } catch (error) {
    const { code = 'FAILED', message } = error as NodeJS.ErrnoException;
    report({ code: (error as Error).name === 'HomeInUseError' ? 'IN_USE' : code, message });
    process.exitCode = 1;
    process.disconnect?.();
  }
}

async function serve(order: ChainOrder): Promise<string> {
  // Two processes would corrupt the journal. The process of a killed gateway releases the folder in a moment.
  if (!order.isScriptable) await lockHome(order.dir);
  const chain = await openKeptChain(systemWorld, {
    ...order,
    onBroken: (error) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  });
  await serveChain(chain, order);
  return chain.genesisHash;
}

function report(message: ChainReport): void {
  process.send?.(message);
}
