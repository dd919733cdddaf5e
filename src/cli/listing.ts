import type { Output } from './command.ts';
import { type Column, layoutTable } from './table.ts';

export function listing<Row>(
  rows: readonly Row[],
  { columns, empty }: { columns: readonly Column<Row>[]; empty: string },
): Output {
  return { json: rows, text: rows.length === 0 ? empty : layoutTable(rows, columns) };
}
