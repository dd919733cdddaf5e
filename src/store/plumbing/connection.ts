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
  /** Further server parameters for these connections. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * True if the URL leads to a pooler in transaction mode. Such a pooler refuses parameters at the start of a connection, because
   * its connections have no session. `beginText` then sets them in each transaction.
   */
  readonly isPooled?: boolean;
}

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
/** The longest transmission time of an answer from the server. */
const NETWORK_MS = 1_000;

export function connectionSettings(input: ConnectionInput): pg.ClientConfig {
  const { url, applicationName, statementTimeoutMs = STATEMENT_TIMEOUT_MS, isPooled = false } = input;
  // `sslmode` as in libpq: `require` encrypts, `verify-full` also checks the certificate.
  const parsed = parse(url, { useLibpqCompat: true });
  const given = toClientConfig(parsed);
  return {
    ...given,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutOf(parsed),
    keepAlive: true,
    types: { getTypeParser: (oid) => PARSERS.get(oid) ?? asText } as pg.CustomTypesConfig,
    // After this time the server should have ended the statement. So the server hangs, or the connection was lost unnoticed.
    ...(statementTimeoutMs === 0 ? {} : { query_timeout: statementTimeoutMs + NETWORK_MS }),
    ...NO_PARAMETERS,
    options: isPooled ? undefined : [given.options ?? [], ...optionsOf(parametersOf(input))].flat().join(' '),
  };
}

/** `connect_timeout` is in seconds. 0 means no timeout. */
function connectTimeoutOf(parsed: object): number {
  const seconds = Number('connect_timeout' in parsed ? parsed.connect_timeout : Number.NaN);
  return seconds >= 0 ? seconds * 1000 : CONNECT_TIMEOUT_MS;
}

/** Begins a transaction. With a pooler, it also sets the parameters that the connection does not have. */
export function beginText(input: ConnectionInput): string {
  if (!input.isPooled) return 'begin';
  const sets = Object.entries(parametersOf(input)).map(
    // A `default_` parameter would only affect later transactions, and this transaction has already begun.
    ([name, value]) => `set local ${name.replace(/^default_/, '')} = '${value}'`,
  );
  return ['begin', ...sets].join('; ');
}

/** The server parameters that every statement must run with. */
function parametersOf({ statementTimeoutMs = STATEMENT_TIMEOUT_MS, settings = {} }: ConnectionInput) {
  return { ...ALWAYS, ...(statementTimeoutMs === 0 ? {} : limitsOf(statementTimeoutMs)), ...settings };
}

/** Removes these parameters if the URL names them. Ours are set by `options`. */
const NO_PARAMETERS = {
  statement_timeout: undefined,
  lock_timeout: undefined,
  idle_in_transaction_session_timeout: undefined,
};

/** A commit is confirmed only after it is on disk, whatever the server's default is. */
const ALWAYS = { synchronous_commit: 'on' };

function optionsOf(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
}

function limitsOf(statementTimeoutMs: number): Readonly<Record<string, string>> {
  return {
    statement_timeout: String(statementTimeoutMs),
    // Only a hanging transaction holds a lock for longer.
    lock_timeout: '5000',
    // A transaction left open would hold its locks forever.
    idle_in_transaction_session_timeout: '15000',
  };
}

const asText = (text: string) => text;
/** By type OID. 64-bit integers and decimals stay text, because no float can represent all of them. */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [16, (text) => text === 't'],
  [17, (text) => Buffer.from(text.slice('\\x'.length), 'hex')],
  [21, Number],
  [23, Number],
  [114, JSON.parse],
  [3802, JSON.parse],
  [1184, (text) => new Date(text)],
]);

/** The server is unreachable, or the connection broke. The last statement may have been executed. */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
  constructor(cause: unknown) {
    const { message, code } = cause as NodeJS.ErrnoException;
    // If several addresses refused the connection, the error has a code and an empty message.
    super(message || code || String(cause), { cause });
  }
}

/** Passes on an error that the server sent. Every other error of the driver is a connection error. */
export function connectionError(error: unknown): unknown {
  return error instanceof pg.DatabaseError ? error : new ConnectionError(error);
}

/** A connected client. The caller must end it. */
export async function connect(settings: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(settings);
  // The current statement fails with the same error. Without a listener, the event would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    void client.end();
    throw connectionError(error);
  }
}

/** Closes the socket at once. A regular end waits for the server, which may never answer. */
export function cut(client: pg.ClientBase): void {
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream.destroy();
}

export interface SentStatement extends StatementText {
  /** The name of the prepared statement. */
  readonly name?: string | undefined;
  readonly queryMode?: 'extended' | undefined;
}

/** A text without name, values and mode may contain several statements. */
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
