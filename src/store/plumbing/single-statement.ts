import type { Rows, Value } from './statement.ts';

/**
 * One statement that has not been run. It is a value: it can be handed to `Database.single`, and no second statement
 * can run beside it. A `Draft` only puts text and values together, so that a statement cannot depend on the rows of
 * another one, and of several that are drafted only the returned one is carried out.
 */
export interface SingleStatement<T> {
  readonly draft: (sql: Draft) => Fragment;
  readonly read: (rows: Rows) => T;
  /** True if it writes to `events`: the placer is then woken after its commit. */
  readonly appendsEvents: boolean;
}

/** Tags the text of a statement. Unlike a `Reader` or a `Tx` it gives back nothing that could be awaited. */
export interface Draft {
  (text: TemplateStringsArray, ...values: readonly (Value | Fragment)[]): Fragment;
  json(value: unknown): Value;
}

declare const isFragment: unique symbol;
export interface Fragment {
  readonly [isFragment]: true;
}
