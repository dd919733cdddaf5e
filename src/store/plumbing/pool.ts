import pg from 'pg';
import { cut } from './connection.ts';
import type { Heartbeat } from './heartbeat.ts';

/** Connections that are opened on demand and kept open. */
export interface Pool {
  /** A connection for one user, which must release it. Rejects at once while the database does not answer. */
  take(): Promise<pg.PoolClient>;
  load(): PoolLoad;
  /** Closes all connections, also those in use. */
  cutAll(): void;
  /** Closes each connection when it is given back. */
  end(): Promise<void>;
}

/** The use of a pool at this moment. */
export interface PoolLoad {
  readonly inUse: number;
  readonly idle: number;
  /** Users that wait for a connection. */
  readonly waiting: number;
}

export interface PoolInput {
  readonly poolSize: number;
  readonly heartbeat?: Heartbeat;
}

/**
 * When the database stops answering or moves to another host, all connections and all waiting users are given up with the
 * pool they belong to. A new pool takes its place, so that no old connection attempt keeps a new user waiting when the
 * database is back.
 */
export function openPool(settings: () => pg.ClientConfig, { poolSize, heartbeat }: PoolInput): Pool {
  const clients = new Set<pg.Client>();
  const waiting = new Set<() => void>();
  let pool = open();

  function open(): pg.Pool {
    // A connection is not closed for being idle: a new one would cost the next request a handshake.
    const opened = new pg.Pool({ ...settings(), max: poolSize, idleTimeoutMillis: 0 });
    opened.on('connect', (client: pg.Client) => {
      clients.add(client);
      // The statement under way fails with the same error. Without a listener it would end the process.
      client.on('error', () => {});
    });
    opened.on('remove', (client: pg.Client) => void clients.delete(client));
    // An idle connection broke, and the pool has removed it.
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
          // A connection that comes too late has no user.
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
