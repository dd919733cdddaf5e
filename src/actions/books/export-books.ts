import type { Registry } from '../../chains/registry.ts';
import { ACCOUNTS, type Line, OPERATOR_FLOAT } from '../../domain/books.ts';
import { formatDecimal } from '../../domain/money.ts';
import { type ExportedEntry, listExported } from '../../store/money/book-export.ts';
import type { Reader } from '../../store/plumbing/database.ts';

/** One row of the exported books. Amounts are in whole tokens, with all decimals. */
export interface ExportRow {
  readonly at: string;
  readonly kind: string;
  readonly merchant: string;
  readonly payment: string;
  readonly asset: string;
  readonly symbol: string;
  /** The amount that was paid. Negative for a refund, a return or a reversal. */
  readonly gross: string;
  readonly fee: string;
  readonly net: string;
  readonly transaction: string;
  readonly ratePair: string;
  /** Units of the quote currency for one unit of the base currency, as a fraction. */
  readonly rate: string;
}

const PAGE = 1_000;

/** Revenue, reversals, refunds and returns of a period, from its start (inclusive) to its end (exclusive). */
export async function* exportBooks(
  db: Reader,
  registry: Registry,
  period: { readonly from: Date; readonly to: Date; readonly merchantId?: string | undefined },
): AsyncGenerator<ExportRow> {
  let after: { at: Date; id: string } | undefined;
  for (;;) {
    const page = await listExported(db, { ...period, after, limit: PAGE });
    for (const entry of page) {
      const earned = earnedBy(entry.lines);
      if (earned.gross !== 0n || earned.fee !== 0n) yield rowOf(registry, entry, earned);
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = { at: last.at, id: last.id };
  }
}

interface Earned {
  readonly gross: bigint;
  /** Negative if the operator gives a fee back. */
  readonly fee: bigint;
}

/**
 * The revenue of an entry. Money at a deposit address counts only after its sweep. A return covered by the operator's float gives its
 * fee back.
 */
function earnedBy(lines: readonly Line[]): Earned {
  const units = (...accounts: readonly string[]) =>
    lines.reduce((sum, line) => (accounts.includes(line.account) ? sum + line.units : sum), 0n);
  const { payer, outside, inFlight, deposits, fees, float } = ACCOUNTS;
  return { gross: -units(payer, outside, inFlight, deposits), fee: units(fees, float(OPERATOR_FLOAT)) };
}

function rowOf(
  registry: Registry,
  { at, kind, merchantId, payment, asset, transaction, quote }: ExportedEntry,
  { gross, fee }: Earned,
): ExportRow {
  const { symbol = '', decimals = 0 } = registry.asset(asset) ?? {};
  const amount = (units: bigint) => formatDecimal({ units, decimals });
  return {
    at: at.toISOString(),
    kind,
    merchant: merchantId ?? '',
    payment,
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

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const COLUMNS = [
  ...(['at', 'kind', 'merchant', 'payment', 'asset', 'symbol', 'gross', 'fee', 'net', 'transaction'] as const),
  ...(['ratePair', 'rate'] as const),
] satisfies readonly (keyof ExportRow)[];

export const CSV_HEAD = COLUMNS.join(',');

/**
 * One line of the CSV export. All fields are ids, times, numbers and words of the gateway, so nothing needs quotes. Texts of
 * strangers would need `csvText`.
 */
export function csvLine(row: ExportRow): string {
  return COLUMNS.map((column) => row[column]).join(',');
}
