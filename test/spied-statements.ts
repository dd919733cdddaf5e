import type { Database, Tx } from '../src/store/plumbing/database.ts';
import { Statement } from '../src/store/plumbing/statement.ts';

type Sent = Statement<unknown>;

/** Calls `inspect` before each statement of a transaction is sent. Returns a function that ends it. */
export function spyOnStatements(db: Database, inspect: (statement: Sent, tx: Tx) => Promise<void> | void): () => void {
  const { begin } = db;
  const spied = (tx: Tx): Tx =>
    new Proxy(tx, {
      apply(target, self, input) {
        const statement = Reflect.apply(target, self, input) as Sent;
        // Parts of other statements are never awaited.
        const send: Sent['then'] = async (onRows, onError) => {
          await inspect(statement, tx);
          return Statement.prototype.then.call(statement, onRows, onError) as never;
        };
        return Object.defineProperty(statement, 'then', { value: send });
      },
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof name !== 'symbol' || typeof value !== 'function') return value;
        return (work: (inner: Tx) => Promise<unknown>) => value((inner: Tx) => work(spied(inner)));
      },
    });
  Object.assign(db, {
    begin: (...[random, work, origin]: Parameters<Database['begin']>) => begin(random, (tx) => work(spied(tx)), origin),
  });
  return () => void Object.assign(db, { begin });
}

/** Calls `inspect` before each statement outside of transactions is sent. Returns a function that ends it. */
export function spyOnReads(db: Database, inspect: (statement: Sent) => Promise<void> | void): () => void {
  const { sql } = db;
  const spied = new Proxy(sql, {
    apply(target, self, input) {
      const statement = Reflect.apply(target, self, input) as Sent;
      const send: Sent['then'] = async (onRows, onError) => {
        await inspect(statement);
        return Statement.prototype.then.call(statement, onRows, onError) as never;
      };
      return Object.defineProperty(statement, 'then', { value: send });
    },
  });
  Object.assign(db, { sql: spied });
  return () => void Object.assign(db, { sql });
}

/** The text of a statement without its parts and values. */
export function headOf({ parts }: Sent): string {
  return parts.join('?').trim().replace(/\s+/g, ' ');
}
