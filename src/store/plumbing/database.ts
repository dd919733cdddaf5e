import type { Origin } from '../../domain/origin.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import type { Random } from '../../runtime/world.ts';
import { beginText, ConnectionError, type ConnectionInput, connectionError, connectionSettings } from './connection.ts';
import type { Heartbeat } from './heartbeat.ts';
import { createListening, type Listener } from './listener.ts';
import { openPool, type PoolLoad } from './pool.ts';
import {
  createStatementNames,
  isStalePlan,
  NO_STATEMENT_NAMES,
  openSession,
  type Session,
  sqlState,
} from './session.ts';
import type { Draft, SingleStatement } from './single-statement.ts';
import { type Reader, type Rows, type Run, readerOf, type Statement } from './statement.ts';

export type { Reader } from './statement.ts';

/**
 * The pool. Reads run on it directly. Writes need a `Tx`, which only `begin` makes, or are a `SingleStatement`. Both are
 * called by `actions/command.ts` alone: the one write path.
 */
export interface Database {
  readonly sql: Reader;
  /** The randomness is for the ids of the events that the transaction appends, the origin for its audit entries. */
  begin<T>(random: Random, work: (tx: Tx) => Promise<T>, origin?: Origin): Promise<T>;
  /** Runs one statement. PostgreSQL makes it a transaction by itself, in one round trip. */
  single<T>(statement: SingleStatement<T>): Promise<T>;
  /** Calls the listener after every commit that appended events. */
  onEvents(listener: () => void): void;
  /** Receives notifications while the database is open, over a separate connection that reconnects by itself. */
  listen(channel: string, listener: Listener): Promise<void>;
  load(): DatabaseLoad;
  close(): Promise<void>;
}

/** The use of the connections at this moment, and the failures since the start by kind. */
export interface DatabaseLoad extends PoolLoad {
  readonly errors: Readonly<Record<DatabaseFault | 'other', number>>;
}

const SAVEPOINT = Symbol('savepoint');
/** A transaction in progress. No other module can make one: the symbol is not exported. */
export interface Tx extends Reader {
  readonly [SAVEPOINT]: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  readonly outbox: TxOutbox;
  readonly origin: Origin;
}

/** The part of a transaction that concerns the events it appends. */
interface TxOutbox {
  readonly random: Random;
  hasEvents: boolean;
}

type TxContext = Pick<Tx, 'outbox' | 'origin'>;

export interface DatabaseInput extends Omit<ConnectionInput, 'isPooled'> {
  readonly poolSize: number;
  /** The same database for notifications, if the URL leads to a pooler in transaction mode. */
  readonly directUrl?: string | undefined;
  /** True if statements are prepared under a name. By default they are, unless there is a pooler. */
  readonly isPrepared?: boolean | undefined;
  /** Notices a database that hangs. Without it, a statement waits until its timeout. */
  readonly heartbeat?: Heartbeat;
}

/** Statements that still run when the database is closed get this long. */
const CLOSE_MS = 1_000;

export interface ListDatabaseInput extends Omit<DatabaseInput, 'statementTimeoutMs' | 'settings'> {
  readonly timeoutMs: number;
}

/**
 * Statements of lists get memory to sort and hash some hundred thousand rows. They are planned for their values: the
 * right index depends on the filter. They are not compiled, because that takes longer than they run.
 */
export const LIST_SETTINGS = { work_mem: '32MB', plan_cache_mode: 'force_custom_plan', jit: 'off' };

/** A separate pool for lists and searches, read only and with a short statement timeout. */
export function openListDatabase({ timeoutMs, ...input }: ListDatabaseInput): Database {
  const settings = { ...LIST_SETTINGS, default_transaction_read_only: 'on' };
  return openDatabase({ ...input, statementTimeoutMs: timeoutMs, settings });
}

/** Statements touch a few rows. With this cost they use an index also while a new table has no statistics yet. */
const SETTINGS = { random_page_cost: '1.1' };

export function openDatabase(input: DatabaseInput): Database {
  const { heartbeat, directUrl } = input;
  const isPooled = directUrl !== undefined;
  const connection = { settings: SETTINGS, ...input, isPooled };
  const begin = beginText(connection);
  const names = (input.isPrepared ?? !isPooled) ? createStatementNames() : NO_STATEMENT_NAMES;
  const listening = createListening({ ...input, url: directUrl ?? input.url });
  const pool = openPool(() => connectionSettings({ ...connection, url: heartbeat?.url() ?? input.url }), input);
  let closing: Promise<void> | undefined;
  heartbeat?.onStall(listening.reopen);

  const errors = { unavailable: 0, conflict: 0, busy: 0, other: 0 };
  const countError = (error: unknown) => {
    const kind = databaseFault(error) ?? (sqlState(error) === undefined ? undefined : 'other');
    if (kind !== undefined) errors[kind] += 1;
  };

  /** Lends out a connection. A broken connection does not go back into the pool. */
  async function borrow<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const client = await pool.take().catch((error: unknown) => {
      const failure = connectionError(error);
      countError(failure);
      throw failure;
    });
    const session = openSession(client, names, heartbeat?.noteAnswer);
    try {
      return await work(session);
    } catch (error) {
      countError(error);
      throw error;
    } finally {
      session.end();
      client.release(session.isLost);
    }
  }

  const runOnce: Run = (statement) =>
    borrow((session) => {
      const work = () => session.run(statement);
      // Only a transaction keeps the connection that its parameters were set on.
      return isPooled ? transact(session, begin, work) : work();
    });
  const run: Run = async (statement) => {
    try {
      return await runOnce(statement);
    } catch (error) {
      if (!isStalePlan(error)) throw error;
      return runOnce(statement);
    }
  };

  const sql = readerOf(run);
  const eventListeners: (() => void)[] = [];
  const announceEvents = () => {
    for (const listener of eventListeners) listener();
  };
  return {
    sql,
    async begin(random, work, origin = {}) {
      const outbox: TxOutbox = { random, hasEvents: false };
      const result = await borrow((session) =>
        transact(session, begin, () => work(transactionOn(session, { outbox, origin }, 1))),
      );
      if (outbox.hasEvents) announceEvents();
      return result;
    },
    async single({ draft, read, appendsEvents }) {
      const rows = await (draft(sql as unknown as Draft) as unknown as Statement<Rows>);
      if (appendsEvents) announceEvents();
      return read(rows);
    },
    onEvents: (listener) => void eventListeners.push(listener),
    listen: listening.add,
    load: () => ({ ...pool.load(), errors: { ...errors } }),
    close() {
      closing ??= close();
      return closing;
    },
  };

  async function close(): Promise<void> {
    const ended = Promise.all([pool.end(), listening.stop()]);
    const cancel = systemWorld.timers.after(CLOSE_MS, pool.cutAll);
    await ended;
    cancel();
  }
}

/** Runs the work between `begin` and `commit`. Any error rolls all of it back. */
async function transact<T>(session: Session, begin: string, work: () => Promise<T>): Promise<T> {
  await session.command(begin);
  try {
    const result = await work();
    // The server answers `commit` with ROLLBACK, and no error, if a statement had failed and the work went on.
    if ((await session.command('commit')) !== 'COMMIT') throw new Error('A statement of the transaction had failed.');
    return result;
  } catch (error) {
    if (!session.isLost) {
      await session.command('rollback').catch(() => {
        session.isLost = true;
      });
    }
    throw error;
  }
}

/** Work that can be undone without the rest of the transaction. */
export function savepoint<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  return tx[SAVEPOINT](work);
}

function transactionOn(session: Session, context: TxContext, depth: number): Tx {
  const name = `savepoint_${depth}`;
  return Object.assign(readerOf(session.run), {
    ...context,
    async [SAVEPOINT]<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      await session.command(`savepoint ${name}`);
      try {
        const result = await work(transactionOn(session, context, depth + 1));
        await session.command(`release savepoint ${name}`);
        return result;
      } catch (error) {
        // If this fails the work is not undone, and its error must not be taken for a refusal: this one is thrown.
        await session.command(`rollback to savepoint ${name}`);
        throw error;
      }
    },
  });
}

/**
 * `unavailable`: the database could not be reached or is stopping; the request may be sent again.
 * `conflict`: the transaction lost a race, or met a statement that must be prepared again; it may be run again.
 * `busy`: a lock was not granted in time.
 */
export type DatabaseFault = 'unavailable' | 'conflict' | 'busy';

const FAULTS: Readonly<Record<string, DatabaseFault>> = {
  '28000': 'unavailable', // this user may not connect (now)
  '28P01': 'unavailable', // wrong password: it was changed
  '3D000': 'unavailable', // no such database (yet)
  '55000': 'unavailable', // the database takes no connections
  '25006': 'unavailable', // read-only: the primary has moved elsewhere
  '25P03': 'unavailable', // idle in transaction for too long
  '57014': 'unavailable', // statement timeout
  '57P01': 'unavailable', // stopped by the administrator
  '57P02': 'unavailable', // crashed
  '57P03': 'unavailable', // starting or stopping
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'busy',
};

/** 08: the connection. 53: no disk, memory or connection is left. 58: the server's system fails, such as its disk. */
const UNAVAILABLE_CLASS = /^(08|53|58)/;

/** True if PostgreSQL refused the data itself. A retry would fail again. */
export function isDataFault(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

/** True if the server ended the statement because it ran for too long. */
export function isStatementTimeout(error: unknown): boolean {
  return sqlState(error) === '57014';
}

/** Decides by SQLSTATE, never by message text. */
export function databaseFault(error: unknown): DatabaseFault | undefined {
  if (error instanceof ConnectionError) return 'unavailable';
  if (isStalePlan(error)) return 'conflict';
  const code = sqlState(error);
  if (code === undefined) return undefined;
  return FAULTS[code] ?? (UNAVAILABLE_CLASS.test(code) ? 'unavailable' : undefined);
}

/** The row a statement that always returns one has returned. */
export function one<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('The statement returned no row.');
  return row;
}
