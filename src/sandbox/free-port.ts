import { createServer } from 'node:net';
import type { Random } from '../runtime/world.ts';

// The range of ports for servers. It is below the ephemeral ports of Linux (from 32768) and macOS (from 49152). Otherwise an
// outgoing connection could take the port while the server restarts. A client that connects to the port could even get it as its
// own source port, and so connect to itself.
const FIRST_PORT = 20_000;
const PORT_COUNT = 12_000;
const MAX_TRIES = 200;

/** A loopback port that is free now. Another program may still take it before the caller does. */
export async function findPort(random: Random): Promise<number> {
  const start = Buffer.from(random.bytes(4)).readUInt32BE();
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = FIRST_PORT + ((start + tries) % PORT_COUNT);
    if (await isPortFree(port)) return port;
  }
  throw new Error('No free port was found on 127.0.0.1.');
}

export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
