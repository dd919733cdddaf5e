import { hash } from 'node:crypto';
import pg from 'pg';
import { ConnectionError, rowsOf, type SentStatement, send } from './connection.ts';
import { type Run, textOf } from './statement.ts';

/** A connection in use by one statement or one transaction. */
export interface Session {
  /** Sends statements one after the other, in the order of the calls. */
  readonly run: Run;
  /** Sends `begin`, `commit` and similar commands, and returns the command tag of the server. */
  command(text: string): Promise<string>;
  /** True if the connection cannot be reused. */
  isLost: boolean;
  /** Refuses every further statement, because the connection belongs to another caller from now on. */
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
      // Without a name and values, the driver would choose the simple protocol, which accepts several statements in a text.
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

/** The server closes the connection after these errors. 25006 means that it is no longer the primary. */
const LOST: ReadonlySet<string | undefined> = new Set(['25006', '25P03', '57P01', '57P02', '57P04', '57P05']);

function isConnectionLost(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  const code = sqlState(error);
  return LOST.has(code) || code?.startsWith('08') === true;
}

/** The names of prepared statements, the same on every connection and in every process. */
export interface StatementNames {
  /** Undefined if the limit of names is reached. */
  of(text: string): string | undefined;
  /** Makes every connection prepare the statement again. */
  renew(text: string): void;
}

/** Each connection keeps all prepared statements, in the driver and in the server. */
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

/** 128 bits in 22 characters. PostgreSQL allows 63. */
function digestOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** No names, for a pooler that gives each transaction another connection, where a prepared statement would not exist. */
export const NO_STATEMENT_NAMES: StatementNames = { of: () => undefined, renew: () => {} };

/**
 * True if a prepared statement can no longer run: a migration changed the type of a column (0A000), or the server has forgotten it
 * (26000). Nothing was executed, so the statement can be prepared again and run.
 */
export function isStalePlan(error: unknown): boolean {
  const code = sqlState(error);
  return code === '0A000' || code === '26000';
}

export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
