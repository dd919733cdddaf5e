import { createContext, useContext } from 'react';
import type { NumberStyle } from '../../shared/money.ts';
import type { Strings } from '../strings/en.ts';

export interface Words extends NumberStyle {
  readonly strings: Strings;
}

export const WordsContext = createContext<Words | null>(null);

/** The texts of the page in the payer's language. */
export function useWords(): Words {
  const words = useContext(WordsContext);
  if (words === null) throw new Error('no words around this component');
  return words;
}
