import postgres from 'postgres';
import type { Random } from '../../runtime/world.ts';
import { driverSockets } from './driver-socket.ts';
import type { Draft, Rows, Statement } from './statement.ts';

/**
 * The pool. Reads run on it directly. Writes need a `Tx`, which only `begin` makes, or are a single `Statement`. Both are
 * called by `actions/command.ts` alone: the one write path.
 */
export interface Database {
  readonly sql: Reader;
  /** The randomness is for the ids of the events that the transaction appends. */
  begin<T>(random: Random, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs one statement. PostgreSQL makes it a transaction by itself, in one round trip. */
  single<T>(statement: Statement<T>): Promise<T>;
  /** Calls the listener after every commit that appended events. */
  onEvents(listener: () => void): void;
  /** Hears messages for as long as the database is open, over a connection of its own that comes back by itself. */
  listen(channel: string, on: { onMessage: (text: string) => void; onConnected: () => void }): Promise<void>;
  close(): Promise<void>;
}

/** Anything that can run a reading statement: the pool or a transaction. */
export type Reader = postgres.ISql<Record<string, never>>;

declare const isTransaction: unique symbol;
/** A transaction in progress. */
export type Tx = postgres.TransactionSql<Record<string, never>> & {
  readonly [isTransaction]: true;
  readonly outbox: TxOutbox;
};

/** The part of a transaction that concerns the events it appends. */
interface TxOutbox {
  readonly random: Random;
  hasEvents: boolean;
}

export interface DatabaseInput {
  readonly url: string;
  readonly poolSize: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
}

const CONNECT_TIMEOUT_S = 5;
/** No statement runs longer than this: see `statement_timeout`. Whatever still waits then has lost its connection. */
const RETIRED_S = 16;

/**
 * Opens the pool. When one of its connections breaks, the whole pool is replaced: the driver is known to leave a broken
 * connection, above all one with TLS, in a state where it neither answers nor ends. Statements under way finish on the
 * old pool, or fail when it is closed for good.
 */
export function openDatabase(input: DatabaseInput): Database {
  const listeners: ((pool: postgres.Sql) => Promise<unknown>)[] = [];
  const eventListeners: (() => void)[] = [];
  const tellOfEvents = () => {
    for (const listener of eventListeners) listener();
  };
  let isClosing = false;
  let pool = connect(input, replace);

  function replace(broken: postgres.Sql): void {
    if (isClosing || broken !== pool) return;
    pool = connect(input, replace);
    for (const listen of listeners) listen(pool).catch(() => {});
    void broken.end({ timeout: RETIRED_S });
  }

  // Whoever holds on to `sql` always speaks to the pool of the moment.
  const sql = new Proxy(pool, {
    apply: (_first, _self, parts: Parameters<postgres.Sql>) => pool(...parts),
    get: (_first, name: keyof postgres.Sql) => pool[name],
  });
  return {
    sql: sql as unknown as Reader,
    begin: async (random, work) => {
      const outbox: TxOutbox = { random, hasEvents: false };
      const result = await pool.begin((tx) => unlessLost(work(Object.assign(tx, { outbox }) as unknown as Tx)));
      if (outbox.hasEvents) tellOfEvents();
      return result as never;
    },
    single: async (statement) => {
      const result = await carryOut(pool, statement);
      if (statement.appendsEvents) tellOfEvents();
      return result;
    },
    onEvents: (listener) => void eventListeners.push(listener),
    listen: async (channel, { onMessage, onConnected }) => {
      const listen = (on: postgres.Sql) => on.listen(channel, onMessage, onConnected);
      await listen(pool);
      listeners.push(listen);
    },
    // Whoever closes it has finished with it; the driver alone may still wait for an answer over a broken connection.
    close: () => {
      isClosing = true;
      return pool.end({ timeout: 1 });
    },
  };
}

function connect(
  { url, poolSize, applicationName }: DatabaseInput,
  onBroken: (pool: postgres.Sql) => void,
): postgres.Sql {
  const pool: postgres.Sql = postgres(url, {
    max: poolSize,
    connect_timeout: CONNECT_TIMEOUT_S,
    // Connections are closed by the server or by accident, never for their age: so a closed one is a broken one.
    max_lifetime: null,
    onclose: () => onBroken(pool),
    // Requests of an outage wait this long for their 503, and the first ones after it for their answer: a quarter second.
    backoff: (attempt) => Math.min(0.05 * 2 ** attempt, 0.25),
    onnotice: () => {},
    // In the driver's manual, not in its types.
    ...({ socket: driverSockets({ timeoutMs: CONNECT_TIMEOUT_S * 1000 }) } as object),
    // Left to ask the server for its types, the driver does so unguarded on every connection: one that breaks at that
    // moment would take the process down. The one array type used here is known beforehand.
    fetch_types: false,
    types: { textArray: TEXT_ARRAY },
    connection: {
      application_name: applicationName,
      // A statement that runs longer has gone wrong; a transaction left open would hold its locks for ever.
      statement_timeout: 15_000,
      // Nobody holds a lock this long but a transaction that hangs.
      lock_timeout: 5_000,
      idle_in_transaction_session_timeout: 15_000,
      // Answers are given only for what is on disk, whatever the server's default says.
      synchronous_commit: 'on',
      // Nothing but blanks, and long enough that the driver sends its first message at once. Otherwise it sets it aside
      // for a moment, together with what was set aside when the connection before broke, and that moment never comes:
      // the connection would time out for ever. Sent, the leftovers make the server hang up, and the next try is clean.
      options: ' '.repeat(1024),
    },
  }) as unknown as postgres.Sql;
  return pool;
}

/** Work that can be undone without the rest of the transaction. */
export function savepoint<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { outbox } = tx;
  return tx.savepoint((inner) => unlessLost(work(Object.assign(inner, { outbox }) as unknown as Tx))) as Promise<T>;
}

async function carryOut<T>(pool: postgres.Sql, { draft, read }: Statement<T>): Promise<T> {
  return read((await draft(pool as unknown as Draft)) as unknown as Rows);
}

/**
 * With its connection a transaction is gone, and there is nothing to roll back. The driver would send `rollback` all
 * the same: into a socket that is not there any more, which takes the process down, or over the connection it opened
 * next, into the middle of another transaction. So it is left waiting here, and reports the loss by itself when it
 * sees the connection close.
 */
async function unlessLost<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isConnectionLost(error)) return new Promise<never>(() => {});
    throw error;
  }
}

/** After these the connection is closed, or about to be: PostgreSQL hangs up after a FATAL error. */
function isConnectionLost(error: unknown): boolean {
  const code = errorCode(error) ?? '';
  return LOST.has(code) || code.startsWith('08');
}

const LOST: ReadonlySet<string> = new Set([
  ...['CONNECTION_CLOSED', 'CONNECTION_DESTROYED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT'],
  ...['25P03', '57P01', '57P02'],
]);

/** Sent as a literal; read with `to_json` instead. */
const TEXT_ARRAY = {
  to: 1009,
  from: [],
  serialize: (items: readonly (string | null)[]) => `{${items.map(quoted).join(',')}}`,
  parse: (text: string) => text,
};

function quoted(item: string | null): string {
  if (item === null) return 'NULL';
  return /[\\"]/.test(item) ? `"${item.replace(/[\\"]/g, '\\$&')}"` : `"${item}"`;
}

/**
 * `unavailable`: the database could not be reached or is stopping; the request may be sent again.
 * `conflict`: the transaction lost a race and may be run again.
 * `busy`: a lock was not granted in time.
 */
export type DatabaseFault = 'unavailable' | 'conflict' | 'busy';

const FAULTS: Readonly<Record<string, DatabaseFault>> = {
  CONNECTION_CLOSED: 'unavailable',
  CONNECTION_ENDED: 'unavailable',
  CONNECTION_DESTROYED: 'unavailable',
  CONNECT_TIMEOUT: 'unavailable',
  ECONNREFUSED: 'unavailable',
  ECONNRESET: 'unavailable',
  EPIPE: 'unavailable',
  ENOTFOUND: 'unavailable',
  EAI_AGAIN: 'unavailable',
  EHOSTUNREACH: 'unavailable',
  ETIMEDOUT: 'unavailable',
  '28000': 'unavailable', // this user may not connect (now)
  '28P01': 'unavailable', // wrong password: it was changed
  '3D000': 'unavailable', // no such database (yet)
  '55000': 'unavailable', // the database takes no connections
  '25006': 'unavailable', // read-only: the primary has moved elsewhere
  '25P03': 'unavailable', // idle in transaction for too long
  '53300': 'unavailable', // too many connections
  '57014': 'unavailable', // statement timeout
  '57P01': 'unavailable', // stopped by the administrator
  '57P02': 'unavailable', // crashed
  '57P03': 'unavailable', // starting or stopping
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'busy',
};

/** Whether PostgreSQL refused the data itself: sent again it would be refused again. */
export function isDataFault(error: unknown): boolean {
  return /^2[23]/.test(errorCode(error) ?? '');
}

/** Decides by SQLSTATE or the driver's code, never by message text. */
export function databaseFault(error: unknown): DatabaseFault | undefined {
  const code = errorCode(error);
  if (code === undefined) return undefined;
  return FAULTS[code] ?? (code.startsWith('08') ? 'unavailable' : undefined);
}

/** The row a statement that always returns one has returned. */
export function one<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('The statement returned no row.');
  return row;
}

function errorCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
