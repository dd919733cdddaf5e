const WIDTH = 120;
/** The document has many levels: wider steps would make it a tenth longer. */
const INDENT = ' ';

/** JSON for people and for comparisons line by line: a value that fits in a line has one, and so has a list of plain values. */
export function jsonText(value: unknown, indent = '', taken = 0): string {
  const line = lineOf(value);
  const isShort = indent.length + taken + line.length <= WIDTH;
  if (isShort || typeof value !== 'object' || value === null) return line;
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return line;
  const inner = indent + INDENT;
  const parts = Array.isArray(value)
    ? value.map((item) => inner + jsonText(item, inner))
    : Object.entries(value).map(([key, item]) => {
        const name = `${JSON.stringify(key)}: `;
        return inner + name + jsonText(item, inner, name.length);
      });
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

function lineOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(lineOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${lineOf(item)}`);
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}
