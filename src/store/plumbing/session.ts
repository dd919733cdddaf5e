import { hash } from 'node:crypto';
import pg from 'pg';
import { ConnectionError, rowsOf, type SentStatement, send } from './connection.ts';
import { type Run, textOf } from './statement.ts';

/** A connection while one statement or one transaction uses it. */
export interface Session {
  /** Sends statements one after the other, in the order of the calls. */
  readonly run: Run;
  /** Sends a command such as `begin` or `commit`, and returns the server's command tag. */
  command(text: string): Promise<string>;
  /** True if the connection is broken, so that nobody can use it again. */
  isLost: boolean;
  /** Refuses all further statements of this session, because another caller may use the connection from now on. */
  end(): void;
}

export function openSession(client: pg.ClientBase, names: StatementNames, onAnswer: () => void = () => {}): Session {
  let last: Promise<unknown> = Promise.resolve();
  let isOver = false;

  function sendInTurn(statement: SentStatement): Promise<pg.QueryResult> {
    if (isOver) return Promise.reject(new Error('The transaction is over.'));
    const sent = last.then(() => send(client, statement));
    last = sent.then(onAnswer, (error: unknown) => {
      session.isLost ||= isConnectionLost(error);
      if (error instanceof pg.DatabaseError) onAnswer();
    });
    return sent;
  }

  const session: Session = {
    isLost: false,
    async run(statement) {
      const { text, values } = textOf(statement);
      const name = statement.isPreparable ? names.of(text) : undefined;
      // For a text without a name and values, the driver would choose the simple protocol, which accepts several statements in one text.
      const queryMode = statement.isPreparable ? 'extended' : undefined;
      try {
        return rowsOf(await sendInTurn({ name, text, values, queryMode }));
      } catch (error) {
        if (isStalePlan(error)) names.renew(text);
        throw error;
      }
    },
    command: async (text) => (await sendInTurn({ text, values: [] })).command,
    end() {
      isOver = true;
    },
  };
  return session;
}

/** The errors after which a connection is not used again. The server closes it, or is no longer the primary (25006). */
const LOST: ReadonlySet<string | undefined> = new Set(['25006', '25P03', '57P01', '57P02', '57P04', '57P05']);

function isConnectionLost(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  const code = sqlState(error);
  return LOST.has(code) || code?.startsWith('08') === true;
}

/** The names of prepared statements. A statement has the same name on every connection and in every process. */
export interface StatementNames {
  /** The name for a statement. Undefined if the limit of names is reached. */
  of(text: string): string | undefined;
  /** Gives the statement a new name, so that every connection prepares it again. */
  renew(text: string): void;
}

/** The largest number of statement names. Each connection keeps all its prepared statements in memory, in the driver and in the server. */
const MAX_NAMES = 1_000;

export function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  let renewals = 0;
  const set = (text: string, name: string) => {
    names.set(text, name);
    return name;
  };
  return {
    of: (text) => names.get(text) ?? (names.size < MAX_NAMES ? set(text, `till_${digestOf(text)}`) : undefined),
    renew(text) {
      renewals += 1;
      set(text, `till_${digestOf(text)}_${renewals}`);
    },
  };
}

/** A hash of 128 bits in 22 characters. PostgreSQL allows names of 63 characters. */
function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** Gives no statement a name. A pooler may run each transaction on another connection, where the prepared statement does not exist. */
export const NO_STATEMENT_NAMES: StatementNames = { of: () => undefined, renew: () => {} };

/**
 * True if a prepared statement can no longer run. Either a migration has changed the type of a column (0A000), or the server no longer
 * knows the statement (26000). The server has executed nothing, so the statement can be prepared and run again.
 */
export function isStalePlan(error: unknown): boolean {
  const code = sqlState(error);
  return code === '0A000' || code === '26000';
}

export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
