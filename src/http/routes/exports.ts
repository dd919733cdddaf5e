import { Readable } from 'node:stream';
import { type Static, Type } from 'typebox';

import { unshifted } from '../../runtime/shifted-clock.ts';
import { EXPORT_COLUMNS, type ExportQuery, exportHead, readExportPage } from '../../store/payments/payment-export.ts';
import { isStatementTimeout } from '../../store/plumbing/database.ts';
import type { App, HttpDeps } from '../deps.ts';
import { readmit } from '../entry/access.ts';
import { callerRights, ownerOf } from '../entry/caller.ts';
import type { ExportReads } from '../entry/list-reads.ts';
import {
  type FilterRequest,
  filterOf,
  ListParameter,
  merchantsFor,
  several,
  splitCommas,
} from '../entry/payment-query.ts';
import { enumOf } from '../schemas.ts';
import { PaymentStatusField } from '../views/payment.ts';

const READ = { scheme: 'partner', scope: 'payments:read' } as const;

/** Routes for files with all matching payments. They are streamed while they are read, so their size is not limited by memory. */
export async function exportRoutes(app: App, deps: HttpDeps): Promise<void> {
  const preValidation = splitCommas(['status', 'token_symbol', 'network']);
  app.get(
    '/v1/exports/payments',
    { schema: EXPORT, config: { access: READ, priority: 'spare' }, preValidation },
    async (request, reply) => {
      const { content = 'payments', format = 'csv' } = request.query;
      const merchantIds = merchantsFor(callerRights(request), request.query.merchantId);
      const wanted = { ...ownerOf(request), merchantIds, ...asked(request.query) };
      const reads = deps.lists.beginExport(callerRights(request), reply);
      try {
        const nowMs = deps.world.clock.nowMs();
        const filter = await reads.page((db) => filterOf(deps, db, wanted, new Date(nowMs)));
        // The time range ends now. Otherwise payments that are created meanwhile would keep extending the file.
        const untilMs = Math.min(filter.untilMs ?? Number.POSITIVE_INFINITY, nowMs + 1);
        const wantedPages = { ...filter, untilMs, content, format, known: deps.registry.assets };
        const pages = exportPages(deps, { reads, readmitted: () => readmit(deps, request) }, wantedPages);
        // The first page is read before the headers are sent, so that its error still gets its own status.
        const first = await pages.next();
        const day = new Date(nowMs).toISOString().slice(0, 10);
        reply.header('Content-Disposition', `attachment; filename="${content}-${day}.${format}"`);
        reply.type(TYPES[format]);
        const file = Readable.from(written(first, pages, reads), { objectMode: false, highWaterMark: 1 });
        // If the client leaves before the file is begun, nothing in `written` runs. So the reads are ended here as well.
        file.once('close', () => reads.end());
        return reply.send(file);
      } catch (error) {
        reads.end();
        throw error;
      }
    },
  );
}

type ExportedQuery = Static<typeof EXPORT.querystring>;

function asked(query: ExportedQuery): Omit<FilterRequest, 'partnerId' | 'mode' | 'merchantIds'> {
  return {
    start: query.startTs,
    end: query.endTs,
    symbols: query.token_symbol ?? [],
    networks: query.network ?? [],
    statuses: query.status ?? [],
    referenceId: query.referenceId,
    search: query.search,
  };
}

const FIRST_PAGE = 1_000;
const SMALLEST_PAGE = 50;
/** The most payments of a page. PostgreSQL needs 13 µs per line for pages of this size, and 16 µs for pages of 8,000. */
const LARGEST_PAGE = 2_000;
/** The target time of a page. It is short, so that lists of other callers do not wait for long. */
const PAGE_MS = 150;

/** The number of payments for the next page, after a page of `limit` payments took `tookMs`. */
export function pageAfter(limit: number, tookMs: number): number {
  return tookMs < PAGE_MS ? Math.min(limit * 2, LARGEST_PAGE) : Math.max(Math.floor(limit / 2), SMALLEST_PAGE);
}

/**
 * The number of payments for a second attempt, after the statement for a page of `limit` payments timed out. Undefined if the
 * page cannot be smaller.
 */
export function pageAfterTimeout(limit: number): number | undefined {
  return limit <= SMALLEST_PAGE ? undefined : Math.max(Math.floor(limit / 4), SMALLEST_PAGE);
}

interface ExportCaller {
  readonly reads: ExportReads;
  /** Throws if the caller has lost the right since the request began. */
  readmitted(): Promise<void>;
}

/**
 * The texts of an export, page by page. The size of a page follows from the time that the previous page took. While a page is
 * sent, the next one is read. Before each further page the caller is admitted again, because its key or session may have ended
 * meanwhile.
 */
async function* exportPages(
  { world }: HttpDeps,
  { reads, readmitted }: ExportCaller,
  query: Omit<ExportQuery, 'afterId' | 'limit'>,
): AsyncGenerator<string, undefined> {
  const clock = unshifted(world.clock);
  let limit = FIRST_PAGE;

  async function read(afterId?: string): Promise<ReadPage> {
    try {
      const { page, tookMs } = await reads.page(async (db) => {
        const startedAtMs = clock.nowMs();
        const page = await readExportPage(db, { ...query, afterId, limit });
        return { page, tookMs: clock.nowMs() - startedAtMs };
      });
      const nextAfterId = page.payments < limit ? undefined : (page.lastId ?? undefined);
      limit = pageAfter(limit, tookMs);
      return { texts: page.texts, nextAfterId };
    } catch (error) {
      const smaller = isStatementTimeout(error) ? pageAfterTimeout(limit) : undefined;
      if (smaller === undefined) throw error;
      limit = smaller;
      return read(afterId);
    }
  }

  let head = exportHead(query);
  for (let reading: Promise<ReadPage> | undefined = read(); reading !== undefined; ) {
    const { texts, nextAfterId }: ReadPage = await reading;
    reading = nextAfterId === undefined ? undefined : readmitted().then(() => read(nextAfterId));
    // If the client leaves, nobody awaits the next page, so its failure must not become an unhandled rejection.
    reading?.catch(() => {});
    if (head !== '') yield head;
    head = '';
    yield* texts;
  }
}

interface ReadPage {
  readonly texts: readonly string[];
  /** The id after which the next page begins. Undefined after the last page. */
  readonly nextAfterId: string | undefined;
}

/**
 * Writes the file. Ends the reads after the last page, or when the client leaves. A failure aborts the answer, so the client
 * notices it.
 */
async function* written(first: IteratorResult<string>, rest: AsyncGenerator<string>, reads: ExportReads) {
  try {
    if (first.done !== true) yield first.value;
    yield* rest;
  } finally {
    reads.end();
  }
}

const TYPES = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' } as const;

const fileOf = (description: string) => Type.Unsafe<Readable>({ type: 'string', description });

const listed = (columns: readonly string[]) => columns.map((column) => `\`${column}\``).join(', ');

const EXPORT = {
  tags: ['Payments'],
  operationId: 'exportPayments',
  summary: 'Export payments',
  description: `All payments that match, the oldest first, in one answer of any size. It is written while it is sent: an answer that breaks off without its end is incomplete. It breaks off, too, if the key or session loses its right meanwhile. A caller has one export at a time.

\`payments\` has one line for each payment: ${listed(EXPORT_COLUMNS.payments)}. \`lateMoney\` has the money that came and did not count for the payment, by reason and token, such as \`underpaid 12.000000 USDC\`.

\`bookkeeping\` has one line for each movement of money in the books: ${listed(EXPORT_COLUMNS.bookkeeping)}. Money from the payer is positive, money to somebody is negative, and the lines of a payment add up to zero, in the token and in \`fiatAmount\`. The \`type\` is \`payment\`, \`fee\`, \`settlement\`, \`held\` (on the intermediate account), \`pending\` (on its way), \`refund\`, \`float\` and \`fee_return\` (the merchant’s and the operator’s part in a refund or a return), \`late_payment\`, \`late_settlement\` or \`late_return\` (money that did not count for its payment). The payments are chosen by their time of creation; a movement has its own date. \`fiatAmount\` is its value at the time of the payment: the price, or the share of it.

Amounts are exact, in major units. In CSV, a text that a spreadsheet would take for a formula begins with an apostrophe. In JSON Lines, unknown values are null.`,
  querystring: Type.Object({
    format: Type.Optional(enumOf(['csv', 'jsonl'], 'Default: csv.')),
    content: Type.Optional(enumOf(['payments', 'bookkeeping'], 'Default: payments.')),
    startTs: ListParameter.start,
    endTs: ListParameter.end,
    token_symbol: ListParameter.symbols('Symbols of the tokens paid with, in any case.'),
    network: ListParameter.networks(),
    status: several(PaymentStatusField, 'Only with these statuses.'),
    referenceId: ListParameter.referenceId,
    search: ListParameter.search,
    merchantId: ListParameter.merchants,
  }),
  response: {
    200: {
      description: 'The file.',
      content: {
        'text/csv': { schema: fileOf('RFC 4180, UTF-8, with the names of the columns.') },
        'application/jsonl': { schema: fileOf('One object in each line.') },
      },
    },
  },
};
