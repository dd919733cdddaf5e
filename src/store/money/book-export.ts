import type { EntryKind, Line } from '../../domain/books.ts';
import type { Reader } from '../plumbing/database.ts';

/** A book entry that changed the earnings of a merchant or of the operator, with the facts that an accountant needs. */
export interface ExportedEntry {
  readonly id: string;
  readonly at: Date;
  readonly kind: string;
  readonly merchantId: string | null;
  /** The payment's id, also for entries of refunds and returns, which the books know by their own ids. */
  readonly payment: string;
  readonly asset: string;
  readonly transaction: string | null;
  readonly lines: readonly Line[];
  /** The exchange rate that the payment used. Null if no conversion was needed. */
  readonly quote: Readonly<Record<string, unknown>> | null;
}

/**
 * The kinds of entries that are exported. Unexpected money without a merchant has entries of these kinds, too, but they are not exported.
 */
const EARNINGS: readonly EntryKind[] = [
  ...(['paid', 'reverted', 'rebuilt', 'swept', 'unswept'] as const),
  ...(['refund_covered', 'refund_uncovered', 'refund_done', 'refund_rebuilt', 'refund_fee_returned'] as const),
  ...(['stray_covered', 'stray_returned', 'return_rebuilt'] as const),
];

export interface ExportAsk {
  readonly from: Date;
  readonly to: Date;
  readonly merchantId?: string | undefined;
  readonly after: { readonly at: Date; readonly id: string } | undefined;
  readonly limit: number;
}

/** A page of exported entries, the oldest first. */
export async function listExported(
  db: Reader,
  { from, to, merchantId, after, limit }: ExportAsk,
): Promise<ExportedEntry[]> {
  const rows = await db<(Omit<ExportedEntry, 'lines'> & { lines: { account: string; units: string }[] })[]>`
    select b.id, b.at, b.kind, b.merchant_id as "merchantId", b.asset,
      coalesce(r.payment_id, t.payment_id, b.subject) as payment, b.transaction_hash as transaction, b.lines, i.quote
    from book_entries b
    left join items i on i.commitment = b.reference
    left join refunds r on r.id = b.subject
    left join strays t on t.id = b.subject
    where b.at >= ${from} and b.at < ${to} and b.kind = any(${EARNINGS as string[]}::text[]) and b.merchant_id <> ''
      and (${merchantId ?? null}::text is null or b.merchant_id = ${merchantId ?? null})
      and (b.at, b.id) > (${after?.at ?? from}::timestamptz, ${after?.id ?? '0'}::bigint)
    order by b.at, b.id limit ${limit}`;
  return rows.map(({ lines, ...row }) => ({
    ...row,
    lines: lines.map(({ account, units }) => ({ account, units: BigInt(units) })),
  }));
}
