import { nearest } from '../../domain/nearest.ts';

/**
 * Fields that a request does not have. A route of our own refuses them all, and so does a schema with
 * `additionalProperties: false`. Clients of the routes in the specification may send extra fields: only a near miss of a
 * known name is refused there, because a misspelt field would count as missing. All others are removed, so that no
 * handler ever sees a field that its schema does not have.
 */
interface Names {
  readonly known: readonly string[];
  readonly isExact: boolean;
}

/** Comparing names costs time, and a body of 64 KiB has room for thousands of them. */
const MAX_LOOKED_AT = 50;
/** As much of a name as is repeated in the answer. */
const MAX_REPEATED = 80;

/** The keyword as Ajv takes it. */
export const NAMES_KEYWORD = {
  keyword: 'x-names',
  type: 'object',
  schemaType: 'object',
  errors: true,
  modifying: true,
  validate,
} as const;

/** PostgreSQL takes no text with a NUL byte. Texts with a pattern or a form of their own have stricter rules. */
export const NO_NUL_KEYWORD = {
  keyword: 'x-no-nul',
  type: 'string',
  schemaType: 'boolean',
  error: { message: 'must not contain a NUL character' },
  validate: (_isOn: boolean, text: string) => !text.includes('\0'),
} as const;

function validate({ known, isExact }: Names, value: Record<string, unknown>): boolean {
  const unknown = Object.keys(value).filter((name) => !known.includes(name));
  if (unknown.length === 0) return true;
  // The error report of an Ajv keyword.
  validate.errors = unknown.slice(0, MAX_LOOKED_AT).flatMap((name) => {
    const meant = nearMiss(name, known);
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

/** The known name that differs in case and separators alone, or by a slip or two of the finger. */
function nearMiss(name: string, known: readonly string[]): string | undefined {
  const plain = known.map(lettersOf);
  const meant = nearest(lettersOf(name), plain, ({ length }) => (length < 4 ? 0 : length < 8 ? 1 : 2));
  return meant === undefined ? undefined : known[plain.indexOf(meant)];
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

type Schema = Readonly<Record<string, unknown>>;

/**
 * The schema, with the names of its fields beside every object in it, and the ban of NUL beside every text. `isOwn`: it
 * belongs to a route of our own.
 */
export function withNames(schema: unknown, isOwn: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((part) => withNames(part, isOwn));
  if (typeof schema !== 'object' || schema === null || NAMES_KEYWORD.keyword in schema) return schema;
  const { additionalProperties, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, part]) => [key, SUBSCHEMAS.has(key) ? withNames(part, isOwn) : part]),
  );
  if (isPlainText(rest)) return { ...rest, [NO_NUL_KEYWORD.keyword]: true };
  const { properties } = rest as { properties?: Schema };
  if (properties === undefined || (additionalProperties ?? false) !== false) {
    return additionalProperties === undefined ? rest : { ...rest, additionalProperties };
  }
  const named = Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, withNames(part, isOwn)]));
  const names: Names = { known: Object.keys(properties), isExact: isOwn || additionalProperties === false };
  return { ...rest, properties: named, [NAMES_KEYWORD.keyword]: names };
}

function isPlainText({ type, enum: values, pattern, 'x-form': form }: Schema): boolean {
  return [type].flat().includes('string') && [values, pattern, form].every((rule) => rule === undefined);
}

const SUBSCHEMAS: ReadonlySet<string> = new Set(['items', 'anyOf', 'oneOf', 'allOf']);

/** The schema as it was written, for people and machines that read the description of the API. */
export function withoutNames<S>(schema: S): S {
  if (Array.isArray(schema)) return schema.map(withoutNames) as S;
  if (typeof schema !== 'object' || schema === null) return schema;
  const { [NAMES_KEYWORD.keyword]: names, [NO_NUL_KEYWORD.keyword]: _, ...rest } = schema as Schema;
  const parts = Object.entries(rest).map(([key, part]) => [key, withoutNames(part)]);
  const isExact = (names as Names | undefined)?.isExact;
  return { ...Object.fromEntries(parts), ...(isExact && { additionalProperties: false }) } as S;
}
