export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string | Date | null;
}

const GAP = '  ';
const NOTHING = '-';

export function layoutTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const titles = columns.map(({ title }) => title.toUpperCase());
  return align([titles, ...rows.map((row) => columns.map(({ cell }) => show(cell(row))))]);
}

/** The fields of one object, one on each line. */
export function layoutFields(fields: Readonly<Record<string, string | Date | null>>): string {
  return align(Object.entries(fields).map(([name, value]) => [name, show(value)]));
}

export function align(lines: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [index, cell] of line.entries()) widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell));
  }
  const pad = (cell: string, index: number) => cell + ' '.repeat((widths[index] ?? 0) - displayWidth(cell));
  return lines.map((line) => line.map(pad).join(GAP).trimEnd()).join('\n');
}

function show(value: string | Date | null): string {
  if (value instanceof Date) return `${value.toISOString().slice(0, 19)}Z`;
  return value === null || value === '' ? NOTHING : printable(value);
}

/** Replaces characters that could move the cursor, break the line or change the direction of text: third parties choose some names. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu, ' ');
}

const GRAPHEMES = new Intl.Segmenter();
const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\uff01-\uff60]/u;

/** The width of a text on a terminal, in columns. Chinese, Japanese and Korean characters and emoji take two columns. */
function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}
