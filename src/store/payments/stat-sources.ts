import { isSearch, type PaymentFilter } from './payment-filter.ts';

/** A range of whole days (UTC). `untilDay` does not belong to the range. A bound that is undefined is open. */
export interface DayRange {
  readonly fromDay: string | undefined;
  readonly untilDay: string | undefined;
}

/** A part of a day whose payments are summed one by one. */
export interface DayPart {
  readonly filter: PaymentFilter;
  /** 1 to add the payments to the totals. −1 to subtract them: the totals include the whole day, and this part of the day is not wanted. */
  readonly sign: 1 | -1;
  readonly day: string | undefined;
}

/** The sources that together give the statistics for a filter. */
export interface StatSources {
  /** The days whose totals are read. Undefined if the totals cannot be used for the filter. */
  readonly totals: DayRange | undefined;
  /** The days that are completely in the time range. Undefined if there are none. */
  readonly whole: DayRange | undefined;
  /** The parts of days to add or subtract, at most one for each end of the range. */
  readonly parts: readonly DayPart[];
}

const DAY_MS = 86_400_000;

/**
 * The sources that give the statistics for a filter. For a search, its matches are summed one by one. For a time range, the totals of its
 * days are read. The first and the last day may be only partly in the range. Then either the wanted part of the day is added to the totals,
 * or the whole day is in the totals and the unwanted part is subtracted. The part with fewer payments is chosen, so each end of the range
 * costs at most half a day of payments.
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

/**
 * The start or the end of the day of `atMs`, whichever has fewer payments between itself and `atMs`. There are no payments after `nowMs`.
 */
function nearestDay(atMs: number, nowMs: number): number {
  const startMs = Math.floor(atMs / DAY_MS) * DAY_MS;
  const endMs = startMs + DAY_MS;
  return atMs - startMs <= Math.min(endMs, nowMs) - atMs || atMs === startMs ? startMs : endMs;
}

interface End {
  /** An end of the time range. `dayMs` is the boundary of a day that the totals use instead of it. */
  readonly atMs: number | undefined;
  readonly dayMs: number | undefined;
  /** The sign of the payments between the end and the boundary, if the boundary comes later. */
  readonly signBefore: 1 | -1;
}

function partBetween(filter: PaymentFilter, { atMs, dayMs, signBefore }: End): DayPart[] {
  if (atMs === undefined || dayMs === undefined || atMs === dayMs) return [];
  const day = dayAt(Math.floor(atMs / DAY_MS) * DAY_MS);
  return atMs < dayMs
    ? [{ filter: { ...filter, fromMs: atMs, untilMs: dayMs }, sign: signBefore, day }]
    : [{ filter: { ...filter, fromMs: dayMs, untilMs: atMs }, sign: signBefore === 1 ? -1 : 1, day }];
}

/** The last day that `dayAt` returns: 9999 is the last year with four digits. */
const LAST_DAY_MS = Date.UTC(9999, 11, 31);

/**
 * The day (UTC) of a time, not before 1970 (there are no earlier payments) and not after 9999 (PostgreSQL spells later years differently).
 */
function dayAt(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined;
  return new Date(Math.min(Math.max(ms, 0), LAST_DAY_MS)).toISOString().slice(0, 10);
}
