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
 * The pool. Reads run on it directly. Writes need a `Tx`, which only `begin` creates, or are a `SingleStatement`. Only
 * `actions/command.ts` calls `begin` and `single`: it is the only write path.
 */
export interface Database {
  readonly sql: Reader;
  /** Runs reading statements one after the other on one connection, so on one server. */
  onOneConnection<T>(work: (sql: Reader) => Promise<T>): Promise<T>;
  /** `random` creates the ids of appended events. `origin` is recorded in audit entries. */
  begin<T>(random: Random, work: (tx: Tx) => Promise<T>, origin?: Origin): Promise<T>;
  /** Runs one statement. PostgreSQL makes it a transaction of its own, in one round trip. */
  single<T>(statement: SingleStatement<T>): Promise<T>;
  /** Calls the listener after every commit that appended events. */
  onEvents(listener: () => void): void;
  /** Calls the listener after every commit that decided about money, with the lines for the log. */
  onMoney(listener: (lines: readonly MoneyLine[]) => void): void;
  /** Receives notifications while the database is open, over a separate connection that reconnects by itself. */
  listen(channel: string, listener: Listener): Promise<void>;
  load(): DatabaseLoad;
  close(): Promise<void>;
}

/** The current use of the connections, and the failures since the start, by kind. */
export interface DatabaseLoad extends PoolLoad {
  readonly errors: Readonly<Record<DatabaseFault | 'other', number>>;
}

const SAVEPOINT = Symbol('savepoint');
/** A transaction in progress. No other module can create one, because the symbol is not exported. */
export interface Tx extends Reader {
  readonly [SAVEPOINT]: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
  readonly outbox: TxOutbox;
  readonly origin: Origin;
}

interface TxOutbox {
  readonly random: Random;
  hasEvents: boolean;
  /** The decisions about money of this transaction. They are written to the log after the commit. */
  money: MoneyLine[];
}

type TxContext = Pick<Tx, 'outbox' | 'origin'>;

export interface DatabaseInput extends Omit<ConnectionInput, 'isPooled'> {
  readonly poolSize: number;
  /** A URL of the same database without a pooler, for notifications. Set if `url` leads to a pooler in transaction mode. */
  readonly directUrl?: string | undefined;
  /** True if statements are prepared under a name. The default is true without a pooler. */
  readonly isPrepared?: boolean | undefined;
  /** Detects a hanging database. Without it, a statement waits until its timeout. */
  readonly heartbeat?: Heartbeat;
  /** Records a span for each transaction and statement within a recorded span. */
  readonly tracing?: Tracing | undefined;
}

/** The time that running statements get when the database is closed. */
const CLOSE_MS = 1_000;

export interface ListDatabaseInput extends Omit<DatabaseInput, 'statementTimeoutMs'> {
  readonly timeoutMs: number;
}

/**
 * List statements get memory to sort and hash some hundred thousand rows. They are planned for their values, because the right
 * index depends on the filter. They are not compiled, because compiling takes longer than running them.
 */
export const LIST_SETTINGS = { work_mem: '32MB', plan_cache_mode: 'force_custom_plan', jit: 'off' };

/** A separate pool for lists and searches, read only and with a short statement timeout. */
export function openListDatabase({ timeoutMs, ...input }: ListDatabaseInput): Database {
  const settings = { ...LIST_SETTINGS, default_transaction_read_only: 'on', ...input.settings };
  return openDatabase({ ...input, statementTimeoutMs: timeoutMs, settings });
}

/** Statements touch few rows. With this cost they use an index even while a new table has no statistics yet. */
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

  /** Lends a connection to the work. A broken connection does not return to the pool. */
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
      // The parameters are set within a transaction, because a pooler may use another connection for the next statement.
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
        // A pooler may use another connection, and another server, for the next transaction.
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

/** Runs the work between `begin` and `commit`. Any error rolls all of it back. */
async function transact<T>(session: Session, begin: string, work: () => Promise<T>): Promise<T> {
  await session.command(begin);
  try {
    const result = await work();
    // If a statement failed and the work continued, the server answers `commit` with ROLLBACK and without an error.
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

/** Runs work that can be rolled back without the rest of the transaction. */
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
        // If this rollback fails, the changes of the work are not undone. So the error of the rollback is thrown instead of the
        // work's own error, which the caller could handle as a refusal and then commit.
        await session.command(`rollback to savepoint ${name}`);
        outbox.money.length = before;
        throw error;
      }
    },
  });
}

/**
 * `unavailable`: the database is unreachable or stopping, and the request may be sent again. `conflict`: the transaction lost a
 * race, or a statement must be prepared again, and the transaction may be retried. `busy`: a lock was not granted in time.
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

/** 08: connection. 53: no disk space, memory or connection is left. 58: the server's system failed, such as its disk. */
const UNAVAILABLE_CLASS = /^(08|53|58)/;

/** True if PostgreSQL refused the data itself, so that a retry would fail again. */
export function isDataFault(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

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

/** The row of a statement that always returns one row. */
export function one<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('The statement returned no row.');
  return row;
}
