/**
 * Finds one text or number in a JSON document and returns it as it is spelled there, because a float would change a number. A part
 * of the path is a member's name, an element's index, or `*` for the only member, for answers keyed by a name that the source
 * chose. Undefined if nothing is found.
 */
export function textAt(json: string, path: readonly string[]): string | undefined {
  let found = parseKeepingNumbers(json);
  for (const part of path) {
    if (typeof found !== 'object' || found === null || found instanceof NumberText) return undefined;
    const entries: readonly [string, unknown][] = Object.entries(found);
    const isAny = part === '*' && entries.length === 1;
    found = isAny ? entries[0]?.[1] : entries.find(([name]) => name === part)?.[1];
  }
  if (typeof found === 'string') return found;
  return found instanceof NumberText ? found.text : undefined;
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

/** Undefined for text that is not JSON: no JSON document parses to undefined. */
function parseKeepingNumbers(json: string): unknown {
  const revive = (_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? new NumberText(context?.source ?? '') : value;
  try {
    return JSON.parse(json, revive);
  } catch {
    return undefined;
  }
}
