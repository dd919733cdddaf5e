import { queryText } from './api.ts';
import { STATUSES } from './shapes.ts';

/** The filters of the payments, as the address bar has them. */
export interface Filters {
  readonly status?: string;
  readonly reference?: string;
  readonly merchant?: string;
  readonly token?: string;
  /** Days, such as 2026-01-31, in the time zone of the person. */
  readonly from?: string;
  readonly until?: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Takes what it knows from an address, whatever else is in it. */
export function readFilters(search: Readonly<Record<string, unknown>>): Filters {
  const text = (name: keyof Filters, isGood: (value: string) => boolean) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' && isGood(value) ? { [name]: value } : {};
  };
  return {
    ...text('status', (value) => (STATUSES as readonly string[]).includes(value)),
    ...text('reference', (value) => /^[A-Za-z0-9 /:.,+-]{1,35}$/.test(value)),
    ...text('merchant', (value) => value.length <= 64),
    ...text('token', (value) => /^[A-Za-z0-9.]{1,20}$/.test(value)),
    ...text('from', (value) => isDay(value)),
    ...text('until', (value) => isDay(value)),
  };
}

/** The status in an address, if it is one of these. */
export function readStatus(
  search: Readonly<Record<string, unknown>>,
  statuses: readonly string[],
): { readonly status?: string } {
  const { status } = search;
  return typeof status === 'string' && statuses.includes(status) ? { status } : {};
}

/** The request for a page of the list. A reference of less than three characters finds nothing yet, and is not sent. */
export function listPath(filters: Filters, cursor: string | undefined): string {
  const { status, reference = '', merchant, token, from, until } = filters;
  return `/v1/payments${queryText({
    limit: 100,
    status,
    referenceId: reference.length < 3 ? undefined : reference,
    merchantId: merchant,
    token_symbol: token,
    startTs: from && startOf(from, 0),
    endTs: until && startOf(until, 1),
    cursor,
  })}`;
}

function isDay(text: string): boolean {
  return DAY.test(text) && !Number.isNaN(new Date(`${text}T00:00`).getTime());
}

/** Midnight of the person's own time zone. */
function startOf(day: string, daysLater: number): string {
  const start = new Date(`${day}T00:00`);
  start.setDate(start.getDate() + daysLater);
  return start.toISOString();
}
