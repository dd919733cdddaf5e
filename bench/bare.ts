import { fileURLToPath } from 'node:url';
import { freePort, startProcess, stopProcess, until } from './processes.ts';

/** The peer over HTTP, in a separate process. */
export interface BareServer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

const FILE = fileURLToPath(new URL('./bare-server.ts', import.meta.url));

export async function startBareServer(): Promise<BareServer> {
  const port = await freePort();
  const child = startProcess([FILE], { PORT: String(port) });
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/v1/payments/x/status`).then(
      () => true as const,
      () => undefined,
    );
  await until('the bare server is up', isUp, { withinMs: 20_000 });
  return { port, pid: child.pid ?? 0, stop: () => stopProcess(child) };
}
