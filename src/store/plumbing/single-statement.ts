import type { Rows, Value } from './statement.ts';

/**
 * A statement that has not run yet: a value for `Database.single`. A `Draft` only combines text and values, and cannot run anything. So the
 * statement cannot depend on the rows of another statement, and nothing but the returned statement is executed.
 */
export interface SingleStatement<T> {
  readonly draft: (sql: Draft) => Fragment;
  readonly read: (rows: Rows) => T;
  /** True if the statement inserts events. The placer is then woken after the commit. */
  readonly appendsEvents: boolean;
}

/** The tag of a statement's text. Unlike a `Reader` or a `Tx`, it returns nothing that can be awaited. */
export interface Draft {
  (text: TemplateStringsArray, ...values: readonly (Value | Fragment)[]): Fragment;
  json(value: unknown): Value;
}

declare const isFragment: unique symbol;
export interface Fragment {
  readonly [isFragment]: true;
}
