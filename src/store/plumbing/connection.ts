import type { Socket } from 'node:net';
import pg from 'pg';
import { parse, toClientConfig } from 'pg-connection-string';
import type { Rows, StatementText } from './statement.ts';

export interface ConnectionInput {
  readonly url: string;
  /** The name of the connection in `pg_stat_activity`. */
  readonly applicationName: string;
  /** The statement timeout. By default 15 seconds. 0 means no timeout. */
  readonly statementTimeoutMs?: number;
  /** Additional server parameters for these connections. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * True if the URL leads to a pooler in transaction mode. Its connections have no session, so it refuses parameters at their start.
   * `beginText` then sets the parameters in each transaction.
   */
  readonly isPooled?: boolean;
}

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
/** The longest time that an answer of the server is expected to need on the network. */
const NETWORK_MS = 1_000;

export function connectionSettings(input: ConnectionInput): pg.ClientConfig {
  const { url, applicationName, statementTimeoutMs = STATEMENT_TIMEOUT_MS, isPooled = false } = input;
  // `sslmode` means the same as in libpq: `require` encrypts, and `verify-full` also checks the certificate.
  const parsed = parse(url, { useLibpqCompat: true });
  const given = toClientConfig(parsed);
  return {
    ...given,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutOf(parsed),
    keepAlive: true,
    types: { getTypeParser: (oid) => PARSERS.get(oid) ?? asText } as pg.CustomTypesConfig,
    // By this time the server should have ended the statement. If it has not, the server hangs, or the connection was lost unnoticed.
    ...(statementTimeoutMs === 0 ? {} : { query_timeout: statementTimeoutMs + NETWORK_MS }),
    ...NO_PARAMETERS,
    options: isPooled ? undefined : [given.options ?? [], ...optionsOf(parametersOf(input))].flat().join(' '),
  };
}

/** The connection timeout from `connect_timeout` of the URL, which is in seconds. 0 means no timeout. */
function connectTimeoutOf(parsed: object): number {
  const seconds = Number('connect_timeout' in parsed ? parsed.connect_timeout : Number.NaN);
  return seconds >= 0 ? seconds * 1000 : CONNECT_TIMEOUT_MS;
}

/** The SQL text that begins a transaction. With a pooler, it also sets the parameters that the connection does not have. */
export function beginText(input: ConnectionInput): string {
  if (!input.isPooled) return 'begin';
  const sets = Object.entries(parametersOf(input)).map(
    // A `default_` parameter affects only later transactions. Without `default_`, it affects the present one.
    ([name, value]) => `set local ${name.replace(/^default_/, '')} = '${value}'`,
  );
  return ['begin', ...sets].join('; ');
}

/** The server parameters with which every statement must run. */
function parametersOf({ statementTimeoutMs = STATEMENT_TIMEOUT_MS, settings = {} }: ConnectionInput) {
  return { ...ALWAYS, ...(statementTimeoutMs === 0 ? {} : limitsOf(statementTimeoutMs)), ...settings };
}

/** Removes these parameters from the URL. The connection gets our own values by `options`. */
const NO_PARAMETERS = {
  statement_timeout: undefined,
  lock_timeout: undefined,
  idle_in_transaction_session_timeout: undefined,
};

/** With this parameter the server confirms a commit only after it is on disk, whatever the server's default is. */
const ALWAYS = { synchronous_commit: 'on' };

function optionsOf(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
}

function limitsOf(statementTimeoutMs: number): Readonly<Record<string, string>> {
  return {
    statement_timeout: String(statementTimeoutMs),
    // Transactions of the gateway hold locks for a shorter time, unless they hang.
    lock_timeout: '5000',
    // Without a limit, a transaction that was left open would hold its locks forever.
    idle_in_transaction_session_timeout: '15000',
  };
}

const asText = (text: string) => text;
/** The parsers of values, by type OID. 64-bit integers and decimals stay text, because no float can represent all of them. */
const PARSERS: ReadonlyMap<number, (text: string) => unknown> = new Map<number, (text: string) => unknown>([
  [16, (text) => text === 't'],
  [17, (text) => Buffer.from(text.slice('\\x'.length), 'hex')],
  [21, Number],
  [23, Number],
  [114, JSON.parse],
  [3802, JSON.parse],
  [1184, (text) => new Date(text)],
]);

/** The server is unreachable, or the connection broke. The last statement may have been executed nevertheless. */
export class ConnectionError extends Error {
  override name = 'ConnectionError';
  constructor(cause: unknown) {
    const { message, code } = cause as NodeJS.ErrnoException;
    // If several addresses refused the connection, the error has a code, but its message is empty.
    super(message || code || String(cause), { cause });
  }
}

/** The error that the server sent, unchanged. Every other error of the driver becomes a `ConnectionError`. */
export function connectionError(error: unknown): unknown {
  return error instanceof pg.DatabaseError ? error : new ConnectionError(error);
}

/** Opens a connection. The caller must end it. */
export async function connect(settings: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(settings);
  // If the connection breaks, the current statement fails with the same error. Without a listener, the event would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    void client.end();
    throw connectionError(error);
  }
}

/** Closes the socket of a connection at once. A regular end would wait for the server, which may never answer. */
export function cut(client: pg.ClientBase): void {
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream.destroy();
}

export interface SentStatement extends StatementText {
  /** The name of the prepared statement. */
  readonly name?: string | undefined;
  readonly queryMode?: 'extended' | undefined;
}

/** Sends a statement to the server. A text without a name, values and mode may contain several statements. */
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
