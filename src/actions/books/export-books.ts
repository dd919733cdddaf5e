import type { Registry } from '../../chains/registry.ts';
import { ACCOUNTS, type Line } from '../../domain/books.ts';
import { formatDecimal } from '../../domain/money.ts';
import { type ExportedEntry, listExported } from '../../store/money/book-export.ts';
import type { Reader } from '../../store/plumbing/database.ts';

/** Amounts are in whole tokens, with all decimals. */
export interface ExportRow {
  readonly at: string;
  readonly kind: string;
  readonly merchant: string;
  readonly payment: string;
  readonly asset: string;
  readonly symbol: string;
  /** The amount paid. Negative for an amount that was taken back. */
  readonly gross: string;
  readonly fee: string;
  readonly net: string;
  readonly transaction: string;
  readonly ratePair: string;
  /** Units of the quote currency for one unit of the base currency, as a fraction. */
  readonly rate: string;
}

const PAGE = 1_000;

/** Revenue and reversals of a period, from its start (inclusive) to its end (exclusive). */
export async function* exportBooks(
  db: Reader,
  registry: Registry,
  period: { readonly from: Date; readonly to: Date; readonly merchantId?: string | undefined },
): AsyncGenerator<ExportRow> {
  let after: { at: Date; id: string } | undefined;
  for (;;) {
    const page = await listExported(db, { ...period, after, limit: PAGE });
    for (const entry of page) yield rowOf(registry, entry);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = { at: last.at, id: last.id };
  }
}

function rowOf(
  registry: Registry,
  { at, kind, merchantId, subject, asset, transaction, lines, quote }: ExportedEntry,
): ExportRow {
  const { symbol = '', decimals = 0 } = registry.asset(asset) ?? {};
  const gross = -unitsOn(lines, ACCOUNTS.payer) - unitsOn(lines, ACCOUNTS.inFlight);
  const fee = unitsOn(lines, ACCOUNTS.fees);
  const amount = (units: bigint) => formatDecimal({ units, decimals });
  return {
    at: at.toISOString(),
    kind,
    merchant: merchantId ?? '',
    payment: subject,
    asset,
    symbol,
    gross: amount(gross),
    fee: amount(fee),
    net: amount(gross - fee),
    transaction: transaction ?? '',
    ratePair: textOf(quote?.pair),
    rate: textOf(quote?.ratio),
  };
}

function unitsOn(lines: readonly Line[], account: string): bigint {
  return lines.reduce((sum, line) => (line.account === account ? sum + line.units : sum), 0n);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const COLUMNS = [
  ...(['at', 'kind', 'merchant', 'payment', 'asset', 'symbol', 'gross', 'fee', 'net', 'transaction'] as const),
  ...(['ratePair', 'rate'] as const),
] satisfies readonly (keyof ExportRow)[];

export const CSV_HEAD = COLUMNS.join(',');

/** All fields are ids, times, numbers and words of the gateway, so there is nothing to quote. Texts of strangers need `csvText`. */
export function csvLine(row: ExportRow): string {
  return COLUMNS.map((column) => row[column]).join(',');
}
