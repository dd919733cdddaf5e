import pg from 'pg';
import { cut } from './connection.ts';
import type { Heartbeat } from './heartbeat.ts';

/** Connections that are opened on demand and stay open. */
export interface Pool {
  /** Takes a connection, which the caller must release. Rejects at once while the database does not answer. */
  take(): Promise<pg.PoolClient>;
  load(): PoolLoad;
  /** Closes all connections, including those in use. */
  cutAll(): void;
  /** Closes each connection when it is released. */
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
 * When the database stops answering or moves to another host, the pool is abandoned with all its connections and waiting callers. A
 * new pool replaces it, so that no old connection attempt delays a new caller when the database is back.
 */
export function openPool(settings: () => pg.ClientConfig, { poolSize, heartbeat }: PoolInput): Pool {
  const clients = new Set<pg.Client>();
  const waiting = new Set<() => void>();
  let pool = open();

  function open(): pg.Pool {
    // Idle connections are not closed, because a new connection would cost the next request a handshake.
    const opened = new pg.Pool({ ...settings(), max: poolSize, idleTimeoutMillis: 0 });
    opened.on('connect', (client: pg.Client) => {
      clients.add(client);
      // The current statement fails with the same error. Without a listener, the event would end the process.
      client.on('error', () => {});
    });
    opened.on('remove', (client: pg.Client) => void clients.delete(client));
    // An idle connection broke, and the pool has already removed it.
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
          // A connection that arrives too late has no caller any more, and goes back to the pool.
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
