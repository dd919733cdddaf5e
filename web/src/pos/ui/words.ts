import { createContext, useContext } from 'react';
import { formatAmount } from '../../shared/money.ts';
import type { PosState } from '../page-state.ts';
import type { PosWords } from '../pos-words.ts';

export const StateContext = createContext<PosState | undefined>(undefined);

export function usePageState(): PosState {
  const state = useContext(StateContext);
  if (state === undefined) throw new Error('There is no state of the page.');
  return state;
}

export function useWords(): PosWords {
  return usePageState().strings;
}

/** The decimals of an amount that an older version of this page stored without decimals, in a currency that is not listed. */
const USUAL_DECIMALS = 2;

/** A function that formats an amount in minor units in the page's language. */
export function useMoney(): (value: string, currency: string, decimals?: number) => string {
  const state = usePageState();
  return (value, currency, kept) => {
    const listed = state.currencies.find(({ code }) => code === currency)?.decimals;
    const decimals = kept ?? listed ?? USUAL_DECIMALS;
    const display = { assetSymbol: currency, assetName: currency, decimals };
    return formatAmount({ unit: `iso4217/${currency}`, value, display }, state);
  };
}
