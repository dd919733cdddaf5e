import { fileURLToPath } from 'node:url';
import { freePort, startProcess, stopProcess, until } from '../processes.ts';
import { installPeer } from './install.ts';

/** The reference facilitator, in a separate process. */
export interface Facilitator {
  readonly port: number;
  readonly pid: number;
  kill(): void;
  stop(): Promise<void>;
}

export interface FacilitatorInput {
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly relayerKey: string;
  readonly confirmationTimeoutMs?: number;
}

const FILE = fileURLToPath(new URL('./facilitator-server.ts', import.meta.url));

export async function startFacilitator(input: FacilitatorInput): Promise<Facilitator> {
  const folder = await installPeer();
  const port = await freePort();
  const child = startProcess([FILE], {
    PEER_FOLDER: folder,
    PORT: String(port),
    RPC_URL: input.rpcUrl,
    CHAIN_ID: String(input.chainId),
    RELAYER_KEY: input.relayerKey,
    ...(input.confirmationTimeoutMs && { CONFIRMATION_TIMEOUT_MS: String(input.confirmationTimeoutMs) }),
  });
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}`).then(
      () => true as const,
      () => undefined,
    );
  await until('the facilitator is up', isUp, { withinMs: 30_000 });
  return { port, pid: child.pid ?? 0, kill: () => void child.kill('SIGKILL'), stop: () => stopProcess(child) };
}
