/** The deepest nesting of a body, more than twice that of the deepest request of this API. */
const MAX_DEPTH = 32;
/** The most values in a body. An order of 100 line items has about 700 values. */
const MAX_VALUES = 2_000;

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = [...Buffer.from('"\\,[{]}')];

/**
 * Checks the nesting and the number of values of a JSON text before it is parsed. A body of 64 KB has room for thousands of
 * levels or members, whose parsing and validation would take several milliseconds, and anybody may send such bodies.
 */
export function bodyShapeProblem(body: Uint8Array): string | undefined {
  let [depth, values] = [0, 1];
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) at = endOfText(body, at + 1);
    else if (byte === COMMA) values += 1;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    if (depth > MAX_DEPTH) return `The body is nested more than ${MAX_DEPTH} levels deep.`;
    if (values > MAX_VALUES) return `The body has more than ${MAX_VALUES} values.`;
  }
  return undefined;
}

/** The index of the quote that ends the string. */
function endOfText(body: Uint8Array, start: number): number {
  for (let at = start; at < body.length; at += 1) {
    if (body[at] === BACKSLASH) at += 1;
    else if (body[at] === QUOTE) return at;
  }
  return body.length;
}
