import type { Rows, Value } from './statement.ts';

/**
 * A statement that has not run yet. It is a value to be passed to `Database.single`. A `Draft` only combines text and values and
 * cannot run anything. So the statement cannot depend on rows of another statement, and only the returned statement is executed.
 */
export interface SingleStatement<T> {
  readonly draft: (sql: Draft) => Fragment;
  readonly read: (rows: Rows) => T;
  /** True if the statement writes to `events`. The placer is then woken after the commit. */
  readonly appendsEvents: boolean;
}

/** Tags the text of a statement. Unlike a `Reader` or a `Tx`, it returns nothing that could be awaited. */
export interface Draft {
  (text: TemplateStringsArray, ...values: readonly (Value | Fragment)[]): Fragment;
  json(value: unknown): Value;
}

declare const isFragment: unique symbol;
export interface Fragment {
  readonly [isFragment]: true;
}
