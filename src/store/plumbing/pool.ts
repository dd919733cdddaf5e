import pg from 'pg';
import { cut } from './connection.ts';
import type { Heartbeat } from './heartbeat.ts';

/** A pool of connections that are opened when needed and stay open. */
export interface Pool {
  /** Takes a connection, which the caller must release. Rejects at once while the database does not answer. */
  take(): Promise<pg.PoolClient>;
  load(): PoolLoad;
  /** Closes all connections at once, including those in use. */
  cutAll(): void;
  /** Closes the pool: each connection is closed when its caller has released it. */
  end(): Promise<void>;
}

export interface PoolLoad {
  readonly inUse: number;
  readonly idle: number;
  /** The number of callers that wait for a connection. */
  readonly waiting: number;
}

export interface PoolInput {
  readonly poolSize: number;
  readonly heartbeat?: Heartbeat;
}

/**
 * Opens a pool of connections. When the database stops answering or moves to another host, this pool is given up with all its connections
 * and waiting callers, and a new one replaces it. So when the database is back, no old connection attempt delays a new caller.
 */
export function openPool(settings: () => pg.ClientConfig, { poolSize, heartbeat }: PoolInput): Pool {
  const clients = new Set<pg.Client>();
  const waiting = new Set<() => void>();
  let pool = open();

  function open(): pg.Pool {
    // Idle connections stay open, because a new connection would cost the next request a handshake.
    const opened = new pg.Pool({ ...settings(), max: poolSize, idleTimeoutMillis: 0 });
    opened.on('connect', (client: pg.Client) => {
      clients.add(client);
      // If the connection breaks, the current statement fails with the same error. Without a listener, the event would end the process.
      client.on('error', () => {});
    });
    opened.on('remove', (client: pg.Client) => void clients.delete(client));
    // An idle connection has broken, and the pool has already removed it. Without a listener, the event would end the process.
    opened.on('error', () => {});
    return opened;
  }

  const cutAll = () => {
    for (const client of clients) cut(client);
  };
  heartbeat?.onStall(() => {
    const stalled = pool;
    pool = open();
    for (const giveUp of waiting) giveUp();
    waiting.clear();
    cutAll();
    void stalled.end();
  });

  return {
    async take() {
      if (heartbeat?.isAlive() === false) throw noAnswer();
      const taken = pool.connect();
      return new Promise((resolve, reject) => {
        const giveUp = () => reject(noAnswer());
        waiting.add(giveUp);
        taken.then(
          // If the connection comes after the caller was refused, nobody waits for it, so it goes back to the pool.
          (client) => (waiting.delete(giveUp) ? resolve(client) : client.release()),
          (error: unknown) => {
            waiting.delete(giveUp);
            reject(error);
          },
        );
      });
    },
    load: () => ({
      inUse: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    cutAll,
    end: () => pool.end(),
  };
}

function noAnswer(): Error {
  return new Error('The database does not answer.');
}
