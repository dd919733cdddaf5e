/** A place in a file: line and column, both counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export type JsonPath = readonly (string | number)[];

export interface JsonText {
  readonly value: unknown;
  /** The place of the value at a path, or of its parent if the value is missing. */
  placeOf(path: JsonPath): Place;
  placeOfKey(path: JsonPath): Place;
}

/** The maximum depth of nesting. No record is nested deeper, and the reader calls itself for each level. */
const MAX_LEVELS = 32;

class Unreadable extends Error {
  readonly offset: number;
  readonly isCut: boolean;
  constructor(message: string, offset: number, isCut = false) {
    super(message);
    this.offset = offset;
    this.isCut = isCut;
  }
}

/**
 * Reads JSON like `JSON.parse`, with the place of every key and value, so that problems can name them. A repeated key is a
 * problem, too.
 */
export function readJson(text: string):
  | { readonly json: JsonText }
  | {
      readonly problem: string;
      readonly place: Place;
      /** True if the text ends too early. */
      readonly isCut: boolean;
    } {
  const values = new Map<string, number>();
  const keys = new Map<string, number>();
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const place = (offset: number): Place => {
    const line = starts.findLastIndex((start) => start <= offset);
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
  const placeOf = (path: JsonPath): Place => {
    for (let length = path.length; length > 0; length -= 1) {
      const offset = values.get(pointer(path.slice(0, length)));
      if (offset !== undefined) return place(offset);
    }
    return place(values.get('') ?? 0);
  };
  try {
    const value = new Reader(text, values, keys).whole();
    return { json: { value, placeOf, placeOfKey: (path) => place(keys.get(pointer(path)) ?? 0) } };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { problem: error.message, place: place(error.offset), isCut: error.isCut };
  }
}

function pointer(path: JsonPath): string {
  return path.map((part) => `/${part}`).join('');
}

class Reader {
  readonly #text: string;
  readonly #values: Map<string, number>;
  readonly #keys: Map<string, number>;
  #at = 0;

  constructor(text: string, values: Map<string, number>, keys: Map<string, number>) {
    this.#text = text;
    this.#values = values;
    this.#keys = keys;
  }

  whole(): unknown {
    const value = this.#value('', 0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw new Unreadable('has text after its end', this.#at);
    return value;
  }

  #value(path: string, level: number): unknown {
    this.#skipSpace();
    this.#values.set(path, this.#at);
    if (level > MAX_LEVELS) throw new Unreadable('is nested too deeply', this.#at);
    const next = this.#text[this.#at];
    if (next === '{') return this.#object(path, level);
    if (next === '[') return this.#array(path, level);
    if (next === '"') return this.#string();
    return this.#word();
  }

  #object(path: string, level: number): Record<string, unknown> {
    const entries: [string, unknown][] = [];
    this.#at += 1;
    if (this.#take('}')) return {};
    do {
      this.#skipSpace();
      const at = this.#at;
      if (this.#text[at] !== '"') throw this.#expected('a field in double quotes');
      const key = this.#string();
      if (entries.some(([known]) => known === key)) throw new Unreadable(`has the field ${key} twice`, at);
      this.#keys.set(`${path}/${key}`, at);
      if (!this.#take(':')) throw this.#expected('a colon');
      entries.push([key, this.#value(`${path}/${key}`, level + 1)]);
    } while (this.#take(','));
    if (!this.#take('}')) throw this.#expected('a comma or }');
    return Object.fromEntries(entries);
  }

  #array(path: string, level: number): unknown[] {
    const list: unknown[] = [];
    this.#at += 1;
    if (this.#take(']')) return list;
    do list.push(this.#value(`${path}/${list.length}`, level + 1));
    while (this.#take(','));
    if (!this.#take(']')) throw this.#expected('a comma or ]');
    return list;
  }

  #string(): string {
    const raw = this.#match(/"(?:[^"\\\n]|\\.)*"/y);
    if (raw === undefined)
      throw new Unreadable('has a text without its closing quotes', this.#at, !this.#text.includes('\n', this.#at));
    return this.#parsed(raw) as string;
  }

  #word(): unknown {
    const raw = this.#match(/true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
    if (raw === undefined) throw this.#expected('a value');
    return this.#parsed(raw);
  }

  #parsed(raw: string): unknown {
    try {
      const value: unknown = JSON.parse(raw);
      this.#at += raw.length;
      return value;
    } catch {
      throw this.#expected('a valid value');
    }
  }

  #match(form: RegExp): string | undefined {
    form.lastIndex = this.#at;
    return form.exec(this.#text)?.[0];
  }

  #skipSpace(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #take(sign: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== sign) return false;
    this.#at += 1;
    return true;
  }

  #expected(what: string): Unreadable {
    this.#skipSpace();
    const isOver = this.#at === this.#text.length;
    return new Unreadable(isOver ? `ends where ${what} should be` : `should have ${what} here`, this.#at, isOver);
  }
}
