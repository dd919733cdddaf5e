import { createContext, useContext } from 'react';
import { latinDigits } from '../../../src/domain/latin-digits.ts';
import type { DashboardState } from './page-state.ts';
import type { Strings } from './strings/en.ts';

export const StateContext = createContext<DashboardState | undefined>(undefined);

export function usePageState(): DashboardState {
  const state = useContext(StateContext);
  if (state === undefined) throw new Error('There is no state of the page.');
  return state;
}

export function useWords(): Strings {
  return usePageState().strings;
}

type Times = ReturnType<typeof timesIn>;
/**
 * The formatters of each language. They are cached, because creating one takes longer than using it, and a table has hundreds of
 * times.
 */
const timesByLocale = new Map<string, Times>();

/** Times in the person's language and time zone. */
export function useTimes(): Times {
  const locale = latinDigits(usePageState().locale);
  const times = timesByLocale.get(locale) ?? timesIn(locale);
  timesByLocale.set(locale, times);
  return times;
}

function timesIn(locale: string) {
  const minute = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const;
  return {
    full: timesBy(locale, { dateStyle: 'medium', timeStyle: 'medium' }),
    short: timesBy(locale, minute),
    /** Times with seconds, for entries less than a minute apart. */
    exact: timesBy(locale, { ...minute, second: '2-digit' }),
    /** A day of statistics, which is a UTC day. */
    day: timesBy(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' }),
  };
}

function timesBy(locale: string, options: Intl.DateTimeFormatOptions) {
  let format: Intl.DateTimeFormat | undefined;
  return (time: string | number) => {
    format ??= new Intl.DateTimeFormat(locale, options);
    return format.format(new Date(time));
  };
}
