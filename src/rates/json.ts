/**
 * JSON answers whose numbers keep their spelling, because a float would change them. `Json` is a value of such an answer: an object,
 * an array, a text, a number as it is spelled, or undefined for a missing value.
 */
export type Json = unknown;

/** Parses JSON. Undefined for text that is not JSON: no JSON document parses to undefined. */
export function parseJson(json: string): Json {
  const revive = (_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? new NumberText(context?.source ?? '') : value;
  try {
    return JSON.parse(json, revive);
  } catch {
    return undefined;
  }
}

/**
 * The value at a path. A part of the path is a member's name, an element's index, or `*`. `*` stands for the only member of an object,
 * whose name the source chose.
 */
function valueAt(json: Json, path: readonly string[]): Json {
  let found = json;
  for (const part of path) {
    if (typeof found !== 'object' || found === null || found instanceof NumberText) return undefined;
    const isOnly = part === '*' && Object.keys(found).length === 1;
    found = isOnly ? Object.values(found)[0] : Object.getOwnPropertyDescriptor(found, part)?.value;
  }
  return found;
}

/** The text or number at a path, as it is spelled. Undefined if there is none. */
export function textAt(json: Json, path: readonly string[]): string | undefined {
  const found = valueAt(json, path);
  if (typeof found === 'string') return found;
  return found instanceof NumberText ? found.text : undefined;
}

/** The elements of the array at a path. Empty if there is no array. */
export function elementsAt(json: Json, path: readonly string[]): readonly Json[] {
  const found = valueAt(json, path);
  return Array.isArray(found) ? found : [];
}

/** Splits a JSON Pointer (RFC 6901), such as `/data/amount`. Undefined if the text is not a JSON Pointer. */
export function parsePointer(pointer: string): readonly string[] | undefined {
  if (!/^(\/([^~/]|~[01])+)+$/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

class NumberText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}
