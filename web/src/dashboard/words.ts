import { createContext, useContext } from 'react';
import { latinDigits } from '../shared/money.ts';
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

type Times = ReturnType<typeof makeTimes>;

const times = new Map<string, Times>();

/** Times in the language and the time zone of the person. */
export function useTimes(): Times {
  const { locale } = usePageState();
  const known = times.get(locale);
  if (known !== undefined) return known;
  const made = makeTimes(latinDigits(locale));
  times.set(locale, made);
  return made;
}

/** Making the formats takes a hundred times as long as using them, and a table has a time in each row. */
function makeTimes(locale: string) {
  const full = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
  const short = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
  return {
    full: (time: string | number) => full.format(new Date(time)),
    short: (time: string | number) => short.format(new Date(time)),
  };
}
