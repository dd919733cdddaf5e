import { nearest } from '../../domain/nearest.ts';

/**
 * The known fields of an object in a request. A route of our own refuses all other fields, and so does a schema with
 * `additionalProperties: false`. Clients of the specified routes may send extra fields. There only a near miss of a known name is
 * refused, because a misspelt field would count as missing. All other unknown fields are removed, so that no handler sees a field
 * that its schema does not have.
 */
interface Names {
  readonly known: readonly string[];
  readonly isExact: boolean;
  /** True for query parameters. A misspelt filter would give wrong results, so more names count as near misses. */
  readonly isQuery: boolean;
}

/**
 * The most unknown names that are compared with known ones. A comparison takes time, and a body of 64 KiB has room for thousands of
 * names.
 */
const MAX_COMPARED = 50;
/** The most parts of a parameter's name with brackets, such as `filter[status]`, that are compared. */
const MAX_PARTS = 5;
/** The most characters of an unknown name that the answer repeats. */
const MAX_REPEATED = 80;

export const NAMES_KEYWORD = {
  keyword: 'x-names',
  type: 'object',
  schemaType: 'object',
  errors: true,
  modifying: true,
  validate,
} as const;

/** The keyword that bans NUL, because PostgreSQL refuses text with it. Texts with a pattern or a form have stricter rules already. */
export const NO_NUL_KEYWORD = {
  keyword: 'x-no-nul',
  type: 'string',
  schemaType: 'boolean',
  error: { message: 'must not contain a NUL character' },
  validate: (_isOn: boolean, text: string) => !text.includes('\0'),
} as const;

function validate({ known, isExact, isQuery }: Names, value: Record<string, unknown>): boolean {
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  if (unknown.length === 0) return true;
  // Ajv reads the errors of a keyword from this property.
  validate.errors = unknown.slice(0, MAX_COMPARED).flatMap((name) => {
    const meant = nearMiss(name, known, isQuery);
    if (meant === undefined && !isExact) return [];
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
    const message = `is not a field of this request${hint}`;
    return [{ keyword: NAMES_KEYWORD.keyword, message, params: { unknownField: name.slice(0, MAX_REPEATED) } }];
  });
  if (validate.errors.length > 0) return false;
  for (const name of unknown) delete value[name];
  return true;
}
validate.errors = [] as { keyword: string; message: string; params: { unknownField: string } }[];

/**
 * The known name that differs from the given name only in case, separators, brackets or plural, or by one or two typing errors.
 * In a query also a known name whose words are all in the given name, such as `symbol` for `token_symbol`, or that is one of its
 * parts in brackets, such as `status` for `filter[status]`.
 */
export function nearMiss(name: string, known: readonly string[], isQuery: boolean): string | undefined {
  const parts = isQuery ? name.split(/[[\]]+/, MAX_PARTS).filter((part) => part !== '') : [withoutBrackets(name)];
  for (const part of parts) {
    const meant = nearMissOfPart(part, known, isQuery);
    if (meant !== undefined) return meant;
  }
  return undefined;
}

function nearMissOfPart(name: string, known: readonly string[], isQuery: boolean): string | undefined {
  const plain = known.map(lettersOf);
  const written = lettersOf(name);
  const meant = nearest(written, plain, ({ length }) => (length < 8 ? 1 : 2));
  if (meant !== undefined) return known[plain.indexOf(meant)];
  const isMeant = (each: string) => isSameWord(lettersOf(each), written) || (isQuery && sharesWords(name, each));
  return written.length > MAX_REPEATED ? undefined : known.find(isMeant);
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

function withoutBrackets(name: string): string {
  return name.replace(/\[.*$/s, '');
}

/** True for the same word in singular or plural. */
function isSameWord(one: string, other: string): boolean {
  const plurals = (word: string) => [word, `${word}s`, `${word}es`];
  return plurals(one).includes(other) || plurals(other).includes(one);
}

/** True if all words of the shorter name stand together in the other. */
function sharesWords(one: string, other: string): boolean {
  const [short = [], long = []] = [wordsOf(one), wordsOf(other)].sort((a, b) => a.length - b.length);
  const isAt = (start: number) => short.every((word, place) => isSameWord(word, long[start + place] ?? ''));
  return short.length > 0 && long.some((_, start) => isAt(start));
}

function wordsOf(name: string): string[] {
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2');
  return spaced
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

type Schema = Readonly<Record<string, unknown>>;

interface SchemaPlace {
  readonly isOwn: boolean;
  readonly isQuery: boolean;
}

/**
 * Adds the names of its fields to every object of the schema, and the ban of NUL to every text. `isOwn`: the schema belongs to
 * a route of our own. `isQuery`: it is the schema of a query.
 */
export function withNames(schema: unknown, where: SchemaPlace): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withNames(part, where));
  if (typeof schema !== 'object' || schema === null || NAMES_KEYWORD.keyword in schema) return schema;
  const { additionalProperties, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, part]) => [key, SUBSCHEMAS.has(key) ? withNames(part, where) : part]),
  );
  if (isPlainText(rest)) return { ...rest, [NO_NUL_KEYWORD.keyword]: true };
  const { properties } = rest as { properties?: Schema };
  if (properties === undefined || (additionalProperties ?? false) !== false) {
    return additionalProperties === undefined ? rest : { ...rest, additionalProperties };
  }
  const named = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, withNames(part, where)]));
  const isExact = where.isOwn || additionalProperties === false;
  const names: Names = { known: Object.keys(properties), isExact, isQuery: where.isQuery };
  return { ...rest, properties: named, [NAMES_KEYWORD.keyword]: names };
}

function isPlainText({ type, enum: values, pattern, 'x-form': form }: Schema): boolean {
  return [type].flat().includes('string') && [values, pattern, form].every((rule) => rule === undefined);
}

const SUBSCHEMAS: ReadonlySet<string> = new Set(['items', 'anyOf', 'oneOf', 'allOf']);

/** The schema as it was written, for the published description of the API. */
export function withoutNames<S>(schema: S): S {
  if (Array.isArray(schema)) return schema.map(withoutNames) as S;
  if (typeof schema !== 'object' || schema === null) return schema;
  const { [NAMES_KEYWORD.keyword]: names, [NO_NUL_KEYWORD.keyword]: _, ...rest } = schema as Schema;
  const parts = Object.entries(rest).map(([key, part]) => [key, withoutNames(part)]);
  const isExact = (names as Names | undefined)?.isExact;
  return { ...Object.fromEntries(parts), ...(isExact && { additionalProperties: false }) } as S;
}
