import { isSearch, type PaymentFilter } from './payment-filter.ts';

/** Whole days (UTC), from the first until before the last. An undefined end is open. */
export interface DayRange {
  readonly fromDay: string | undefined;
  readonly untilDay: string | undefined;
}

/** Payments that are added up one by one. */
export interface DayPart {
  readonly filter: PaymentFilter;
  /** −1: the totals have the whole day, and this part of it is not wanted. */
  readonly sign: 1 | -1;
  readonly day: string | undefined;
}

/** The sources of the numbers of an answer. */
export interface StatSources {
  /** The days of the totals. Undefined if no total covers the filter. */
  readonly totals: DayRange | undefined;
  /** The days that lie in the range from their beginning to their end. */
  readonly whole: DayRange | undefined;
  /** At most one for each end of the range. */
  readonly parts: readonly DayPart[];
}

const DAY_MS = 86_400_000;

/**
 * A search is added up from its matches. A time range is added up from the totals of its days. A day at an end of the range
 * lies in it only in part: either the wanted part is added to the totals, or the other part is subtracted from them. The
 * smaller part is read, so an end costs half a day of payments at most.
 */
export function sourcesOf(filter: PaymentFilter): StatSources {
  const { fromMs, untilMs } = filter;
  const nowMs = filter.now.getTime();
  const fromDayMs = fromMs === undefined ? undefined : nearestDay(fromMs, nowMs);
  const untilDayMs = untilMs === undefined ? undefined : nearestDay(untilMs, nowMs);
  if (isSearch(filter) || !isRange(fromDayMs, untilDayMs)) {
    return { totals: undefined, whole: undefined, parts: [{ filter, sign: 1, day: undefined }] };
  }
  const wholeFromMs = fromMs === undefined ? undefined : Math.ceil(fromMs / DAY_MS) * DAY_MS;
  const wholeUntilMs = untilMs === undefined ? undefined : Math.floor(untilMs / DAY_MS) * DAY_MS;
  return {
    totals: { fromDay: dayAt(fromDayMs), untilDay: dayAt(untilDayMs) },
    whole: isRange(wholeFromMs, wholeUntilMs)
      ? { fromDay: dayAt(wholeFromMs), untilDay: dayAt(wholeUntilMs) }
      : undefined,
    parts: [
      ...partBetween(filter, { atMs: fromMs, dayMs: fromDayMs, signBefore: 1 }),
      ...partBetween(filter, { atMs: untilMs, dayMs: untilDayMs, signBefore: -1 }),
    ],
  };
}

function isRange(fromMs: number | undefined, untilMs: number | undefined): boolean {
  return fromMs === undefined || untilMs === undefined || fromMs < untilMs;
}

/** The beginning or the end of the day, whichever has fewer payments between itself and the time. The future has none. */
function nearestDay(atMs: number, nowMs: number): number {
  const startMs = Math.floor(atMs / DAY_MS) * DAY_MS;
  const endMs = startMs + DAY_MS;
  return atMs - startMs <= Math.min(endMs, nowMs) - atMs || atMs === startMs ? startMs : endMs;
}

interface End {
  /** An end of the range, and the day up to which the totals are used instead. */
  readonly atMs: number | undefined;
  readonly dayMs: number | undefined;
  /** The sign of payments between the two if the day comes after the end. */
  readonly signBefore: 1 | -1;
}

function partBetween(filter: PaymentFilter, { atMs, dayMs, signBefore }: End): DayPart[] {
  if (atMs === undefined || dayMs === undefined || atMs === dayMs) return [];
  const day = dayAt(Math.floor(atMs / DAY_MS) * DAY_MS);
  return atMs < dayMs
    ? [{ filter: { ...filter, fromMs: atMs, untilMs: dayMs }, sign: signBefore, day }]
    : [{ filter: { ...filter, fromMs: dayMs, untilMs: atMs }, sign: signBefore === 1 ? -1 : 1, day }];
}

/** The year 9999 is the last that has four digits. */
const LAST_DAY_MS = Date.UTC(9999, 11, 31);

/** PostgreSQL has no year 0, and other years are spelled in other ways. No payment is older than 1970. */
function dayAt(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  return new Date(Math.min(Math.max(ms, 0), LAST_DAY_MS)).toISOString().slice(0, 10);
}
