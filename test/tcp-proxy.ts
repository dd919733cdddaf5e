import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

export interface TcpProxy {
  /** The server, reached through the proxy. */
  readonly url: string;
  /** Breaks every connection; new ones are accepted. */
  reset(): void;
  /** Breaks every connection and accepts no new one. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /** Every connection stays open and is silent from here on, as if the server's host had vanished; new ones work. */
  stall(): void;
  /** Every connection stays open and is silent, new ones too, as if the server were stopped. */
  hang(): void;
  /** Requests still reach the server, and every connection ends before its answers. New connections work. */
  halfClose(): void;
  /** Bytes flow again, also those that were sent meanwhile. */
  resume(): void;
}

/**
 * A TCP proxy in front of a server, such as PostgreSQL or a chain, that can be cut and restored. With a certificate it
 * offers TLS, as PostgreSQL does.
 */
export async function startTcpProxy(
  serverUrl: string,
  { certificate }: { certificate?: { readonly key: string; readonly cert: string } } = {},
): Promise<TcpProxy> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  /** The readable side: a socket, or the TLS on top of it. */
  const streams = new Set<Socket>();
  /** Work for the end of the silence; undefined while bytes flow. */
  let delayed: (() => void)[] | undefined;
  const targets = new WeakMap<Socket, Socket>();
  const pairs = new Set<Pair>();
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

  /** Forwards the client's bytes, read through `stream`, and the server's answers. */
  function join(client: Socket, stream: Socket): void {
    if (delayed !== undefined) return void delayed.push(() => join(client, stream));
    const upstream = connect(Number(target.port), target.hostname);
    follow(upstream);
    stream.on('error', () => {});
    upstream.on('close', () => client.destroy());
    const pair: Pair = { stream, upstream, isHalfClosed: false };
    pairs.add(pair);
    client.on('close', () => {
      pairs.delete(pair);
      // Bytes that the client sent before the end still arrive.
      if (!pair.isHalfClosed) upstream.destroy();
    });
    for (const [from, to] of [
      [stream, upstream],
      [upstream, stream],
    ] as const) {
      streams.add(from);
      from.on('close', () => streams.delete(from));
      from.pipe(to);
      targets.set(from, to);
    }
  }

  function silence(): void {
    for (const stream of streams) {
      stream.unpipe();
      stream.pause();
    }
  }

  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: Object.assign(new URL(serverUrl), { host: `127.0.0.1:${port}` }).href,
    reset,
    async cut() {
      server.close();
      reset();
    },
    async restore() {
      server = await open(port);
    },
    stall: silence,
    hang() {
      delayed = [];
      silence();
    },
    halfClose() {
      for (const pair of pairs) {
        pair.isHalfClosed = true;
        pair.upstream.unpipe();
        pair.upstream.resume();
        pair.stream.end();
      }
    },
    resume() {
      const work = delayed ?? [];
      delayed = undefined;
      for (const stream of streams) {
        const target = targets.get(stream);
        if (target !== undefined) stream.pipe(target);
      }
      for (const run of work) run();
    },
  };
}

/** A connection of a client, and the connection to the server that belongs to it. */
interface Pair {
  /** The client's side. */
  readonly stream: Socket;
  readonly upstream: Socket;
  /** True if answers do not reach the client any more. */
  isHalfClosed: boolean;
}
