import { isSearch, type PaymentFilter } from './payment-filter.ts';

/** Whole days (UTC). `untilDay` is exclusive. An undefined bound is open. */
export interface DayRange {
  readonly fromDay: string | undefined;
  readonly untilDay: string | undefined;
}

/** Payments that are summed one by one. */
export interface DayPart {
  readonly filter: PaymentFilter;
  /** −1 if the totals include the whole day and this part of the day is not wanted. */
  readonly sign: 1 | -1;
  readonly day: string | undefined;
}

/** The sources of the numbers of an answer. */
export interface StatSources {
  /** The days of the totals. Undefined if no total covers the filter. */
  readonly totals: DayRange | undefined;
  /** The days that are completely in the range. */
  readonly whole: DayRange | undefined;
  /** At most one part for each end of the range. */
  readonly parts: readonly DayPart[];
}

const DAY_MS = 86_400_000;

/**
 * The sources of a filter. A search is summed from its matches. A time range is summed from the totals of its days. The first and
 * last day may be only partly in the range: then either the wanted part is added to the totals, or the unwanted part is subtracted
 * from them. The smaller part is read, so an end costs half a day of payments at most.
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

/** The start or the end of the day, whichever has fewer payments between itself and the time. The future has no payments. */
function nearestDay(atMs: number, nowMs: number): number {
  const startMs = Math.floor(atMs / DAY_MS) * DAY_MS;
  const endMs = startMs + DAY_MS;
  return atMs - startMs <= Math.min(endMs, nowMs) - atMs || atMs === startMs ? startMs : endMs;
}

interface End {
  /** An end of the range, and the boundary of the day that the totals use instead. */
  readonly atMs: number | undefined;
  readonly dayMs: number | undefined;
  /** The sign of the payments between end and boundary, if the boundary comes later. */
  readonly signBefore: 1 | -1;
}

function partBetween(filter: PaymentFilter, { atMs, dayMs, signBefore }: End): DayPart[] {
  if (atMs === undefined || dayMs === undefined || atMs === dayMs) return [];
  const day = dayAt(Math.floor(atMs / DAY_MS) * DAY_MS);
  return atMs < dayMs
    ? [{ filter: { ...filter, fromMs: atMs, untilMs: dayMs }, sign: signBefore, day }]
    : [{ filter: { ...filter, fromMs: dayMs, untilMs: atMs }, sign: signBefore === 1 ? -1 : 1, day }];
}

/** The year 9999 is the last with four digits. */
const LAST_DAY_MS = Date.UTC(9999, 11, 31);

/** The day (UTC), from 1970, before which there are no payments, to 9999: PostgreSQL spells years without four digits differently. */
function dayAt(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  return new Date(Math.min(Math.max(ms, 0), LAST_DAY_MS)).toISOString().slice(0, 10);
}
