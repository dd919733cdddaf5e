import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface DatabaseProxy {
  /** The database, reached through the proxy. */
  readonly url: string;
  /** Breaks every connection; new ones are welcome. */
  reset(): void;
  /** Breaks every connection and lets no new one in. */
  cut(): Promise<void>;
  restore(): Promise<void>;
}

/** A cable to the database that can be pulled out and put back. */
export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let server: Server = await open(0);
  const { port } = server.address() as AddressInfo;

  async function open(onPort: number): Promise<Server> {
    const opened = createServer((client) => {
      const upstream = connect(Number(target.port), target.hostname);
      for (const [from, to] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        sockets.add(from);
        from.on('error', () => {});
        from.on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
        from.pipe(to);
      }
    }).listen(onPort, '127.0.0.1');
    await once(opened, 'listening');
    return opened;
  }

  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${port}` }).href,
    reset,
    async cut() {
      server.close();
      reset();
    },
    async restore() {
      server = await open(port);
    },
  };
}
