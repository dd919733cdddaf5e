import type { PaymentStatistics, Volume } from './api-types.ts';

const DAY_MS = 86_400_000;

/** The number of days that the page Home shows at first. */
export const FIRST_PERIOD = 30;

/** The days (UTC) up to and including today, oldest first. */
export function lastDays(count: number, today: string): readonly string[] {
  return Array.from({ length: count }, (_, index) => daysBefore(today, count - 1 - index));
}

function daysBefore(day: string, count: number): string {
  return dayAt(Date.parse(day) - count * DAY_MS);
}

export function dayAt(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The statistics of today and of the same weekday a week before. Days without payments are not in `days`, so they get zeros. */
export function todayAndLastWeek({ days, until }: Pick<PaymentStatistics, 'days' | 'until'>) {
  const of = (day: string) => days.find((each) => each.day === day) ?? { day, payments: 0, succeeded: 0, volume: [] };
  return { today: of(until), lastWeek: of(daysBefore(until, 7)) };
}

/** The volume in the currency of `wanted`, or zero. */
export function volumeIn(volume: readonly Volume[], wanted: Volume): Volume {
  return volume.find(({ currency }) => currency === wanted.currency) ?? { ...wanted, amount: '0' };
}

/** The share of succeeded payments among those with a final status. Undefined if there are none. */
export function successRate({ statuses }: Pick<PaymentStatistics, 'statuses'>): number | undefined {
  const { succeeded, failed, expired, cancelled } = statuses;
  const over = succeeded + failed + expired + cancelled;
  return over === 0 ? undefined : succeeded / over;
}
