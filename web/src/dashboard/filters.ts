import { queryText } from './api.ts';
import { STATUSES } from './statuses.ts';

/** The filters of the list of payments, as they are in the URL. */
export interface Filters {
  readonly status?: string;
  /** The searched text: a reference of the shop, a payment's id, a payer's account or a transaction hash. */
  readonly search?: string;
  readonly merchant?: string;
  readonly token?: string;
  /** CAIP-2. */
  readonly network?: string;
  /** The first day of the range, such as 2026-01-31, in the person's time zone. `until` is its last day. */
  readonly from?: string;
  readonly until?: string;
  readonly sort?: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The sort orders, with their API parameters. By default the newest payments come first. */
export const SORTS = {
  oldest: { sortBy: 'date', sortDir: 'asc' },
  largest: { sortBy: 'amount', sortDir: 'desc' },
  smallest: { sortBy: 'amount', sortDir: 'asc' },
} as const;

/** Takes the valid filters from a URL and ignores everything else. */
export function readFilters(search: Readonly<Record<string, unknown>>): Filters {
  const text = (name: keyof Filters, isGood: (value: string) => boolean) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' && isGood(value) ? { [name]: value } : {};
  };
  return {
    ...text('status', (value) => (STATUSES as readonly string[]).includes(value)),
    ...text('search', (value) => /^[^\p{Cc}\p{Cs}]{1,512}$/u.test(value)),
    ...text('merchant', (value) => value.length <= 64),
    ...text('token', (value) => /^[A-Za-z0-9.]{1,20}$/.test(value)),
    ...text('network', (value) => /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/.test(value)),
    ...text('from', (value) => isDay(value)),
    ...text('until', (value) => isDay(value)),
    ...text('sort', (value) => Object.hasOwn(SORTS, value)),
  };
}

/** The status in the URL, if it is one of `statuses`. */
export function readStatus(
  search: Readonly<Record<string, unknown>>,
  statuses: readonly string[],
): { readonly status?: string } {
  const { status } = search;
  return typeof status === 'string' && statuses.includes(status) ? { status } : {};
}

/** The number of rows in a page of the list: more than a screen has, and few enough to be rendered at once. */
const PAGE_ROWS = 50;

/** The request for a page of the list. It does not ask for the number of matches, so that the rows arrive sooner. */
export function listPath(filters: Filters, cursor: string | undefined): string {
  const order = SORTS[filters.sort as keyof typeof SORTS];
  return `/v1/payments${queryText({ limit: PAGE_ROWS, stats: 'none', ...queryOf(filters), ...order, cursor })}`;
}

export function countPath(filters: Filters): string {
  return `/v1/payments${queryText({ limit: 1, stats: 'totals', ...queryOf(filters) })}`;
}

export interface ExportChoice {
  readonly content: 'payments' | 'bookkeeping';
  readonly format: 'csv' | 'jsonl';
}

/**
 * The request for a file with all matches. An export for bookkeeping ignores the status filter: money also moves for failed and
 * expired payments.
 */
export function exportPath(filters: Filters, choice: ExportChoice): string {
  const status = choice.content === 'bookkeeping' ? undefined : filters.status;
  return `/v1/exports/payments${queryText({ ...choice, ...queryOf(filters), status })}`;
}

/** True if the search text has one or two characters. The API would refuse such a text, so the page shows a hint and does not send it. */
export function isShortSearch({ search = '' }: Filters): boolean {
  const { length } = search.trim();
  return length > 0 && length < 3;
}

/** The filters as API parameters. */
function queryOf({ status, search = '', merchant, token, network, from, until }: Filters) {
  const text = search.trim();
  return {
    status,
    search: text.length < 3 ? undefined : text,
    merchantId: merchant,
    token_symbol: token,
    network,
    startTs: from && startOf(from, 0),
    endTs: until && startOf(until, 1),
  };
}

function isDay(text: string): boolean {
  return DAY.test(text) && !Number.isNaN(new Date(`${text}T00:00`).getTime());
}

/** The beginning of a day in the person's time zone. `daysLater` moves it to a later day. */
function startOf(day: string, daysLater: number): string {
  const start = new Date(`${day}T00:00`);
  start.setDate(start.getDate() + daysLater);
  return start.toISOString();
}
