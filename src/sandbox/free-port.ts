import { createServer } from 'node:net';
import type { Random } from '../runtime/world.ts';

// Below the ports which Linux (from 32768) and macOS (from 49152) give to outgoing connections. A server that has to
// come back on its port would otherwise find it taken now and then: by any outgoing connection, even by a client that
// tries to reach the very same port, gets it as its own, and so talks to itself.
const FIRST_PORT = 20_000;
const PORT_COUNT = 12_000;
const MAX_TRIES = 200;

/** A loopback port that nobody uses at this moment; the caller has to expect that somebody takes it first. */
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
