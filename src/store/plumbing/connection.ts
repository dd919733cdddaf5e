import type { Socket } from 'node:net';
import pg from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import type { Rows, StatementText } from './statement.ts';

export interface ConnectionInput {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** The statement timeout: 15 s by default, none if 0. */
  readonly statementTimeoutMs?: number;
  /** Further parameters of the server for these connections. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * True if the URL leads to a pooler in transaction mode. It refuses parameters at the start of a connection, because its
   * connections have no session: `beginText` then sets them in each transaction.
   */
  readonly isPooled?: boolean;
}

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
/** The longest way of an answer from the server. */
const NETWORK_MS = 1_000;

export function connectionSettings(input: ConnectionInput): pg.ClientConfig {
  const { url, applicationName, statementTimeoutMs = STATEMENT_TIMEOUT_MS, isPooled = false } = input;
  // `sslmode` has its usual meaning in PostgreSQL clients: `require` encrypts, `verify-full` also checks.
  const parsed = parse(url, { useLibpqCompat: true });
  const given = toClientConfig(parsed);
  return {
    ...given,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutOf(parsed),
    keepAlive: true,
    types: { getTypeParser: (oid) => PARSERS.get(oid) ?? asText } as pg.CustomTypesConfig,
    // The server would have ended the statement by now: it hangs, or the network has lost the connection unnoticed.
    ...(statementTimeoutMs === 0 ? {} : { query_timeout: statementTimeoutMs + NETWORK_MS }),
    ...NO_PARAMETERS,
    options: isPooled ? undefined : [given.options ?? [], ...optionsOf(parametersOf(input))].flat().join(' '),
  };
}

/** `connect_timeout` is in seconds, and 0 stands for none. */
function connectTimeoutOf(parsed: object): number {
  const seconds = Number('connect_timeout' in parsed ? parsed.connect_timeout : Number.NaN);
  return seconds >= 0 ? seconds * 1000 : CONNECT_TIMEOUT_MS;
}

/** Begins a transaction, with the parameters that a connection to a pooler does not have. */
export function beginText(input: ConnectionInput): string {
  if (!input.isPooled) return 'begin';
  const sets = Object.entries(parametersOf(input)).map(
    // The default concerns later transactions, and this one has begun.
    ([name, value]) => `set local ${name.replace(/^default_/, '')} = '${value}'`,
  );
  return ['begin', ...sets].join('; ');
}

/** The parameters of the server that every statement must run under. */
function parametersOf({ statementTimeoutMs = STATEMENT_TIMEOUT_MS, settings = {} }: ConnectionInput) {
  return { ...ALWAYS, ...settings, ...(statementTimeoutMs === 0 ? {} : limitsOf(statementTimeoutMs)) };
}

/** A URL may name these parameters, too. Ours are among the options. */
const NO_PARAMETERS = {
  statement_timeout: undefined,
  lock_timeout: undefined,
  idle_in_transaction_session_timeout: undefined,
};

/** A commit is answered only when it is on disk, whatever the server's default is. */
const ALWAYS = { synchronous_commit: 'on' };

function optionsOf(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
}

function limitsOf(statementTimeoutMs: number): Readonly<Record<string, string>> {
  return {
    statement_timeout: String(statementTimeoutMs),
    // Only a transaction that hangs holds a lock for longer.
    lock_timeout: '5000',
    // A transaction that was left open would hold its locks for ever.
    idle_in_transaction_session_timeout: '15000',
  };
}

const asText = (text: string) => text;
/** By the type's number in `pg_type`. Integers of 64 bits and decimals stay text: no float can hold all of them. */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [16, (text) => text === 't'],
  [17, (text) => Buffer.from(text.slice('\\x'.length), 'hex')],
  [21, Number],
  [23, Number],
  [114, JSON.parse],
  [3802, JSON.parse],
  [1184, (text) => new Date(text)],
]);

/** The server cannot be reached, or the connection broke. The last statement may have been carried out. */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
  constructor(cause: unknown) {
    const { message, code } = cause as NodeJS.ErrnoException;
    // A refused connection to several addresses has its reason in the code and nothing in the message.
    super(message || code || String(cause), { cause });
  }
}

/** An error that the server sent is passed on; every other error of the driver is one of the connection. */
export function connectionError(error: unknown): unknown {
  return error instanceof pg.DatabaseError ? error : new ConnectionError(error);
}

/** A client that is connected. Its owner must end it. */
export async function connect(settings: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(settings);
  // The statement under way fails with the same error; without a listener it would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    void client.end();
    throw connectionError(error);
  }
}

/** Closes the socket at once. The polite end of a connection waits for a server that may never answer. */
export function cut(client: pg.ClientBase): void {
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream.destroy();
}

export interface SentStatement extends StatementText {
  /** The name to be prepared under. */
  readonly name?: string | undefined;
  readonly queryMode?: 'extended' | undefined;
}

/** Text without name, values and mode may hold several statements. */
export async function send(client: pg.ClientBase, statement: SentStatement): Promise<pg.QueryResult> {
  try {
    const result: pg.QueryResult | pg.QueryResult[] = await client.query(statement as pg.QueryConfig);
    return Array.isArray(result) ? (result.at(-1) as pg.QueryResult) : result;
  } catch (error) {
    throw connectionError(error);
  }
}

export function rowsOf({ rows, rowCount }: pg.QueryResult): Rows {
  return Object.defineProperty(rows, 'count', { value: rowCount ?? 0 }) as unknown as Rows;
}
