import type { Parsed } from './parsed.ts';

/**
 * Reads an RFC 3339 time as milliseconds since the epoch. This function is stricter than `Date.parse`, which reads 30 February as
 * 2 March and a time without offset as local time. It is more lenient than RFC 3339: the seconds may be left out. Fractions of a
 * millisecond are rounded up, which does not change comparisons with whole milliseconds.
 */
export function parseTimestamp(text: string): Parsed<number> {
  const parts = text.length <= MAX_LENGTH ? FORM.exec(text)?.groups : undefined;
  if (parts === undefined) return { ok: false, problem: RULE };
  const { fraction = '', sign = '+' } = parts;
  const [year, month, day, hour, minute, second, offsetHour, offsetMinute] = FIELDS.map((name) =>
    Number(parts[name] ?? 0),
  ) as [number, number, number, number, number, number, number, number];
  if (day < 1 || day > daysInMonth(year, month))
    return { ok: false, problem: 'must name a day that is on the calendar' };
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) {
    return { ok: false, problem: 'must name a time that is on the clock' };
  }
  const date = new Date(0);
  // Unlike `Date.UTC`, `setUTCFullYear` does not read the year 26 as 1926.
  date.setUTCFullYear(year, month - 1, day);
  const offsetMs = (sign === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute) * 60_000;
  const minuteMs = date.getTime() + (hour * 60 + minute) * 60_000 - offsetMs;
  // A leap second ends a day in UTC. Unix time does not count it, so it becomes the first second of the next day.
  if (second === 60 && (minuteMs + 60_000) % DAY_MS !== 0) return { ok: false, problem: NO_LEAP };
  const isBetween = /[1-9]/.test(fraction.slice(3));
  return {
    ok: true,
    value: minuteMs + second * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0')) + Number(isBetween),
  };
}

const RULE = 'must be an RFC 3339 time with its offset, such as 2026-02-18T09:30:00Z or 2026-02-18T10:30:00+01:00';
const NO_LEAP = 'must name a time that is on the clock: leap seconds only end a day in UTC';
const MAX_LENGTH = 64;
const DAY_MS = 86_400_000;

/** The form of a time. In a query string an unescaped `+` arrives as a space, so a space is read as `+`. */
const FORM =
  /^(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)T(?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:\.(?<fraction>\d+))?)?(?:Z|(?<sign>[+ -])(?<offsetHour>\d\d):(?<offsetMinute>\d\d))$/i;
const FIELDS = ['year', 'month', 'day', 'hour', 'minute', 'second', 'offsetHour', 'offsetMinute'];

/** The number of days in a month. Zero for a month that does not exist, so that no day is valid in it. */
export function daysInMonth(year: number, month: number): number {
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  if (month === 2) return isLeapYear ? 29 : 28;
  if (month < 1 || month > 12) return 0;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
