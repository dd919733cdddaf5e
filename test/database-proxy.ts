import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

export interface DatabaseProxy {
  /** The database, reached through the proxy. */
  readonly url: string;
  /** Breaks every connection; new ones are welcome. */
  reset(): void;
  /** Breaks every connection and lets no new one in. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** Every connection stays open and is silent from here on, as if the server's host had vanished; new ones work. */
  stall(): void;
}

/** A cable to the database that can be pulled out and put back. With a certificate it speaks TLS to its clients. */
export async function startDatabaseProxy(
  databaseUrl: string,
  { certificate }: { certificate?: { readonly key: string; readonly cert: string } } = {},
): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  /** What is read from: a socket, or the TLS on top of it. */
  const streams = new Set<Socket>();
  let server: Server = await open(0);
  const { port } = server.address() as AddressInfo;

  async function open(onPort: number): Promise<Server> {
    const opened = createServer((client) => {
      follow(client);
      if (certificate === undefined) join(client, client);
      // A client that wants TLS sends a request of eight bytes, and waits for an S.
      else
        client.once('data', () => {
          client.write('S');
          join(client, new TLSSocket(client, { isServer: true, ...certificate }));
        });
    }).listen(onPort, '127.0.0.1');
    await once(opened, 'listening');
    return opened;
  }

  function follow(socket: Socket): void {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  }

  /** Passes on what comes from the client, read through `stream`, and what the database answers. */
  function join(client: Socket, stream: Socket): void {
    const upstream = connect(Number(target.port), target.hostname);
    follow(upstream);
    stream.on('error', () => {});
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
    for (const [from, to] of [
      [stream, upstream],
      [upstream, stream],
    ] as const) {
      streams.add(from);
      from.on('close', () => streams.delete(from));
      from.pipe(to);
    }
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
    stall() {
      for (const stream of streams) {
        stream.unpipe();
        stream.pause();
      }
    },
  };
}
