import { createContext, useContext } from 'react';
import { formatAmount } from '../../shared/money.ts';
import { decimalsOf } from '../../shared/typed-amount.ts';
import type { PosState } from '../page-state.ts';
import type { Strings } from '../strings/en.ts';

export const StateContext = createContext<PosState | undefined>(undefined);

export function usePageState(): PosState {
  const state = useContext(StateContext);
  if (state === undefined) throw new Error('There is no state of the page.');
  return state;
}

export function useWords(): Strings {
  return usePageState().strings;
}

/** An amount of a currency in the language of the page, from minor units. */
export function useMoney(): (value: string, currency: string) => string {
  const state = usePageState();
  return (value, currency) => {
    const display = { assetSymbol: currency, assetName: currency, decimals: decimalsOf(currency) };
    return formatAmount({ unit: `iso4217/${currency}`, value, display }, state);
  };
}
