/** Runs reading statements, either on the pool or in a database transaction. */
export interface Reader {
  /** Makes a statement, or a fragment for use in another statement. Values become parameters, and are never part of the text. */
  <T extends readonly unknown[] = Row[]>(parts: TemplateStringsArray, ...values: readonly Value[]): Statement<Rows<T>>;
  /** A value for a parameter of the type `jsonb`. */
  json(value: unknown): Json;
  /**
   * Makes a statement or a fragment of raw text without parameters. It may contain several statements. Never use it for text from outside.
   */
  unsafe<T extends readonly unknown[] = Row[]>(text: string): Statement<Rows<T>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a statement that names no row type is read column by column
type Row = Record<string, any>;

/** The rows of a statement, with the number of rows that it read or changed. */
export type Rows<T extends readonly unknown[] = Row[]> = T & { readonly count: number };

/** The types of values in statements. `undefined` is not among them, so a missing value is an error and does not become null. */
export type Value = Scalar | readonly (string | null)[] | Json | Statement<unknown>;
type Scalar = string | number | bigint | boolean | Date | Uint8Array | null;

class Json {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}

/** A function that sends a statement to the server. */
export type Run = (statement: Statement<unknown>) => Promise<Rows>;

/** A lazy promise of rows. The statement is sent to the server when it is first awaited, and only once. */
export class Statement<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Statement';
  readonly parts: readonly string[];
  readonly values: readonly Value[];
  /** False if the text may contain several statements: the server cannot prepare such a text. */
  readonly isPreparable: boolean;
  readonly #run: Run;
  #rows: Promise<T> | undefined;

  constructor(run: Run, parts: readonly string[], values?: readonly Value[]) {
    this.#run = run;
    this.parts = parts;
    this.values = values ?? [];
    this.isPreparable = values !== undefined;
  }

  #send(): Promise<T> {
    this.#rows ??= this.#run(this) as Promise<unknown> as Promise<T>;
    return this.#rows;
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a statement is how it is sent
  then<A = T, B = never>(
    onRows?: ((rows: T) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#send().then(onRows, onError);
  }

  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.#send().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.#send().finally(onEnd);
  }
}

export function readerOf(run: Run): Reader {
  const read = (parts: TemplateStringsArray, ...values: readonly Value[]) => new Statement(run, parts, values);
  return Object.assign(read, {
    json: (value: unknown) => new Json(value),
    unsafe: (text: string) => new Statement(run, [text]),
  }) as unknown as Reader;
}

/** The text and the parameters of a statement, in the form that the server accepts. */
export interface StatementText {
  readonly text: string;
  readonly values: readonly (string | Uint8Array | null)[];
}

export function textOf(statement: Statement<unknown>): StatementText {
  const values: (string | Uint8Array | null)[] = [];
  return { text: join(statement, values), values };
}

function join({ parts, values }: Statement<unknown>, parameters: (string | Uint8Array | null)[]): string {
  let text = parts[0] ?? '';
  for (const [index, value] of values.entries()) {
    if (value instanceof Statement) text += join(value, parameters);
    else {
      const type = typeOf(value);
      parameters.push(encode(value));
      text += `$${parameters.length}${type}`;
    }
    text += parts[index + 1] ?? '';
  }
  return text;
}

/** The SQL cast for a value of certain types. The server infers all other types: a string may be a text, a number or a time. */
function typeOf(value: Exclude<Value, Statement<unknown>>): string {
  if (typeof value === 'boolean') return '::boolean';
  if (typeof value !== 'object' || value === null) return '';
  if (value instanceof Date) return '::timestamptz';
  if (value instanceof Json) return '::jsonb';
  return value instanceof Uint8Array ? '::bytea' : '';
}

function encode(value: Exclude<Value, Statement<unknown>>): string | Uint8Array | null {
  if (typeof value === 'string' || value === null || value instanceof Uint8Array) return value;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Json) return JSON.stringify(value.value);
  if (Array.isArray(value)) return `{${value.map(quoted).join(',')}}`;
  if (value === undefined) throw new TypeError('A statement was given no value for one of its parameters.');
  return String(value);
}

function quoted(item: string | null): string {
  if (item === null) return 'NULL';
  return /[\\"]/.test(item) ? `"${item.replace(/[\\"]/g, '\\$&')}"` : `"${item}"`;
}
