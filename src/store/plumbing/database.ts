import type { MoneyLine } from '../../domain/money-line.ts';
import type { Origin } from '../../domain/origin.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import type { Tracing } from '../../runtime/tracing.ts';
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
import { ABOUT_TRANSACTION, traceStatements } from './traced-statements.ts';

export type { Reader } from './statement.ts';

/**
 * A PostgreSQL database with its pool of connections. Reads run on any connection of the pool. A write needs a `Tx`, which only `begin`
 * creates, or is a `SingleStatement`. Only `actions/command.ts` calls `begin` and `single`, so it is the only write path.
 */
export interface Database {
  readonly sql: Reader;
  /** Runs reading statements one after the other on one connection, and therefore on one server. */
  onOneConnection<T>(work: (sql: Reader) => Promise<T>): Promise<T>;
  /** Runs the work in a database transaction. `random` creates the ids of appended events. `origin` is recorded in audit entries. */
  begin<T>(random: Random, work: (tx: Tx) => Promise<T>, origin?: Origin): Promise<T>;
  /** Runs one statement. PostgreSQL commits it as a transaction of its own, so one round trip is enough. */
  single<T>(statement: SingleStatement<T>): Promise<T>;
  /** Calls the listener after every commit that appended events. */
  onEvents(listener: () => void): void;
  /** Calls the listener after every commit with decisions about money. The argument has the lines that describe them in the log. */
  onMoney(listener: (lines: readonly MoneyLine[]) => void): void;
  /**
   * Calls the listener with the notifications of a channel until the database is closed. They come by a separate connection that reconnects
   * by itself.
   */
  listen(channel: string, listener: Listener): Promise<void>;
  load(): DatabaseLoad;
  close(): Promise<void>;
}

/** The present use of the connections, and the number of failures of each kind since the start. */
export interface DatabaseLoad extends PoolLoad {
  readonly errors: Readonly<Record<DatabaseFault | 'other', number>>;
}

const SAVEPOINT = Symbol('savepoint');
/** A database transaction in progress. No other module can create one, because the symbol is not exported. */
export interface Tx extends Reader {
  readonly [SAVEPOINT]: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  readonly outbox: TxOutbox;
  readonly origin: Origin;
}

interface TxOutbox {
  readonly random: Random;
  hasEvents: boolean;
  /** The decisions about money in this database transaction. They are written to the log after the commit. */
  money: MoneyLine[];
}

type TxContext = Pick<Tx, 'outbox' | 'origin'>;

export interface DatabaseInput extends Omit<ConnectionInput, 'isPooled'> {
  readonly poolSize: number;
  /** A URL of the same database without a pooler, used for notifications. Set if `url` leads to a pooler in transaction mode. */
  readonly directUrl?: string | undefined;
  /** True if the server prepares statements under a name. By default true without a pooler, and false with one. */
  readonly isPrepared?: boolean | undefined;
  /** Detects that the database hangs. Without it, a statement on a hanging database waits until its timeout. */
  readonly heartbeat?: Heartbeat;
  /** Records a span for each database transaction and statement within a recorded span. */
  readonly tracing?: Tracing | undefined;
}

/** The time that running statements get to finish after the database is closed. */
const CLOSE_MS = 1_000;

export interface ListDatabaseInput extends Omit<DatabaseInput, 'statementTimeoutMs'> {
  readonly timeoutMs: number;
}

/**
 * The settings of connections for lists. Their statements get enough memory to sort and hash some hundred thousand rows. They are planned
 * for their values, because the right index depends on the filter. They are not compiled (JIT), because that takes longer than running
 * them.
 */
export const LIST_SETTINGS = { work_mem: '32MB', plan_cache_mode: 'force_custom_plan', jit: 'off' };

/** Opens a separate pool for lists and searches, which is read only and has a short statement timeout. */
export function openListDatabase({ timeoutMs, ...input }: ListDatabaseInput): Database {
  const settings = { ...LIST_SETTINGS, default_transaction_read_only: 'on', ...input.settings };
  return openDatabase({ ...input, statementTimeoutMs: timeoutMs, settings });
}

/**
 * The default server parameters of a pool's connections. Their statements touch few rows. With this cost, the planner uses an index even
 * while a new table has no statistics.
 */
const SETTINGS = { random_page_cost: '1.1' };

export function openDatabase(input: DatabaseInput): Database {
  const { heartbeat, directUrl, tracing } = input;
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

  /** Runs the work with a connection of the pool. A broken connection is closed and does not return to the pool. */
  async function borrow<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const client = await pool.take().catch((error: unknown) => {
      const failure = connectionError(error);
      countError(failure);
      throw failure;
    });
    const session = openSession(client, names, heartbeat?.noteAnswer);
    if (tracing !== undefined) traceStatements(tracing, session);
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
      // The parameters are set within a transaction, because a pooler may run the next statement on another connection.
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
  const beginNow: Database['begin'] = async (random, work, origin = {}) => {
    const outbox: TxOutbox = { random, hasEvents: false, money: [] };
    const result = await borrow((session) =>
      transact(session, begin, () => work(transactionOn(session, { outbox, origin }, 1))),
    );
    if (outbox.hasEvents) announceEvents();
    if (outbox.money.length > 0) for (const listener of moneyListeners) listener(outbox.money);
    return result;
  };
  const moneyListeners: ((lines: readonly MoneyLine[]) => void)[] = [];
  const eventListeners: (() => void)[] = [];
  const announceEvents = () => {
    for (const listener of eventListeners) listener();
  };
  return {
    sql,
    onOneConnection: (work) =>
      borrow((session) => {
        const run = () => work(readerOf(session.run));
        // A pooler may run the next transaction on another connection, and on another server.
        return isPooled ? transact(session, begin, run) : run();
      }),
    begin:
      tracing === undefined
        ? beginNow
        : (...input) => tracing.span('transaction', ABOUT_TRANSACTION, () => beginNow(...input)),
    async single({ draft, read, appendsEvents }) {
      const rows = await (draft(sql as unknown as Draft) as unknown as Statement<Rows>);
      if (appendsEvents) announceEvents();
      return read(rows);
    },
    onEvents: (listener) => void eventListeners.push(listener),
    onMoney: (listener) => void moneyListeners.push(listener),
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

/** Runs the work between `begin` and `commit`. Any error of the work rolls all of it back. */
async function transact<T>(session: Session, begin: string, work: () => Promise<T>): Promise<T> {
  await session.command(begin);
  try {
    const result = await work();
    // The server answers `commit` with ROLLBACK, and not with an error, if a statement failed and the work continued after it.
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

/** Runs work within a transaction. If the work throws, only its own changes are rolled back. */
export function savepoint<T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  return tx[SAVEPOINT](work);
}

function transactionOn(session: Session, context: TxContext, depth: number): Tx {
  const name = `savepoint_${depth}`;
  return Object.assign(readerOf(session.run), {
    ...context,
    async [SAVEPOINT]<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      await session.command(`savepoint ${name}`);
      const { outbox } = context;
      const before = outbox.money.length;
      try {
        const result = await work(transactionOn(session, context, depth + 1));
        await session.command(`release savepoint ${name}`);
        return result;
      } catch (error) {
        // If this rollback fails, the changes of the work remain in the transaction. Then the error of the rollback is thrown instead of
        // the work's own error. Otherwise the caller could treat the work's error as a refusal, and commit the changes.
        await session.command(`rollback to savepoint ${name}`);
        outbox.money.length = before;
        throw error;
      }
    },
  });
}

/**
 * A fault of the database that may pass. `unavailable`: the database is unreachable or is stopping, and the client may send its request
 * again. `conflict`: the transaction lost a race, or a statement must be prepared again, so the transaction may be repeated. `busy`: a lock
 * was not granted in time.
 */
export type DatabaseFault = 'unavailable' | 'conflict' | 'busy';

const FAULTS: Readonly<Record<string, DatabaseFault>> = {
  '28000': 'unavailable', // the user may not connect, perhaps only for now
  '28P01': 'unavailable', // wrong password: somebody has changed it
  '3D000': 'unavailable', // the database does not exist, perhaps only for now
  '55000': 'unavailable', // the database accepts no connections
  '25006': 'unavailable', // the server is read-only, because another one is the primary now
  '25P03': 'unavailable', // the transaction was idle for too long
  '57014': 'unavailable', // the statement ran into its timeout
  '57P01': 'unavailable', // the administrator has ended the connection
  '57P02': 'unavailable', // another process of the server has crashed
  '57P03': 'unavailable', // the server is starting or stopping
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'busy',
};

/**
 * The classes of SQLSTATE that mean `unavailable`. 08: connection. 53: no disk space, memory or connection is left. 58: a failure of the
 * server's system, such as its disk.
 */
const UNAVAILABLE_CLASS = /^(08|53|58)/;

/** True if PostgreSQL refused the data itself, so that repeating the statement would fail again. */
export function isDataFault(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

export function isStatementTimeout(error: unknown): boolean {
  return sqlState(error) === '57014';
}

/** The kind of a fault that may pass, or undefined for any other error. The SQLSTATE decides, never the text of the message. */
export function databaseFault(error: unknown): DatabaseFault | undefined {
  if (error instanceof ConnectionError) return 'unavailable';
  if (isStalePlan(error)) return 'conflict';
  const code = sqlState(error);
  if (code === undefined) return undefined;
  return FAULTS[code] ?? (UNAVAILABLE_CLASS.test(code) ? 'unavailable' : undefined);
}

/** The row of a statement that always returns a row. */
export function one<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('The statement returned no row.');
  return row;
}
