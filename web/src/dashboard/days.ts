import type { Statistics, Volume } from './shapes.ts';

const DAY_MS = 86_400_000;

/** The days that the page Home begins with. */
export const FIRST_PERIOD = 30;

/** Days (UTC) up to this one, the oldest first. */
export function lastDays(count: number, today: string): readonly string[] {
  return Array.from({ length: count }, (_, index) => daysBefore(today, count - 1 - index));
}

function daysBefore(day: string, count: number): string {
  return dayAt(Date.parse(day) - count * DAY_MS);
}

export function dayAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The last day, which is today, and the same day of the week before, with nothing where there were no payments. */
export function todayAndLastWeek({ days, until }: Pick<Statistics, 'days' | 'until'>) {
  const of = (day: string) => days.find((each) => each.day === day) ?? { day, payments: 0, succeeded: 0, volume: [] };
  return { today: of(until), lastWeek: of(daysBefore(until, 7)) };
}

/** The volume in this currency: nothing of it, if there is none. */
export function volumeIn(volume: readonly Volume[], wanted: Volume): Volume {
  return volume.find(({ currency }) => currency === wanted.currency) ?? { ...wanted, amount: '0' };
}

/** Succeeded payments among those that are over. Undefined if none is. */
export function successRate({ statuses }: Pick<Statistics, 'statuses'>): number | undefined {
  const { succeeded, failed, expired, cancelled } = statuses;
  const over = succeeded + failed + expired + cancelled;
  return over === 0 ? undefined : succeeded / over;
}
