import type { Line } from '../../domain/books.ts';
import type { Reader } from '../plumbing/database.ts';

/** An entry that changed the earnings of a merchant or of the operator, with the facts an accountant needs. */
export interface ExportedEntry {
  readonly id: string;
  readonly at: Date;
  readonly kind: string;
  readonly merchantId: string | null;
  readonly subject: string;
  readonly asset: string;
  readonly transaction: string | null;
  readonly lines: readonly Line[];
  /** The rate of the conversion. Null if no conversion was needed. */
  readonly quote: Readonly<Record<string, unknown>> | null;
}

export interface ExportAsk {
  readonly from: Date;
  readonly to: Date;
  readonly merchantId?: string | undefined;
  readonly after: { readonly at: Date; readonly id: string } | undefined;
  readonly limit: number;
}

/** A page of exported entries, in the order of time. */
export async function listExported(
  db: Reader,
  { from, to, merchantId, after, limit }: ExportAsk,
): Promise<ExportedEntry[]> {
  const rows = await db<(Omit<ExportedEntry, 'lines'> & { lines: { account: string; units: string }[] })[]>`
    select b.id, b.at, b.kind, b.merchant_id as "merchantId", b.subject, b.asset, b.transaction_hash as transaction, b.lines,
      i.quote
    from book_entries b left join items i on i.commitment = b.reference
    where b.at >= ${from} and b.at < ${to} and b.kind in ('paid', 'reverted', 'rebuilt', 'refund_done', 'refund_rebuilt')
      and (${merchantId ?? null}::text is null or b.merchant_id = ${merchantId ?? null})
      and (b.at, b.id) > (${after?.at ?? from}::timestamptz, ${after?.id ?? '0'}::bigint)
    order by b.at, b.id limit ${limit}`;
  return rows.map(({ lines, ...row }) => ({
    ...row,
    lines: lines.map(({ account, units }) => ({ account, units: BigInt(units) })),
  }));
}
