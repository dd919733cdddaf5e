import { STRINGS as CHECKOUT_STRINGS } from '../checkout/locale.ts';
import type { Strings as CheckoutStrings } from '../checkout/strings/en.ts';
import { ar } from './strings/ar.ts';
import { de } from './strings/de.ts';
import { en, type Strings } from './strings/en.ts';
import { es } from './strings/es.ts';
import { fr } from './strings/fr.ts';
import { ja } from './strings/ja.ts';
import { pt } from './strings/pt.ts';

/** The texts of late money that the point of sale shares with the checkout. */
const SHARED = [
  'lateMoney',
  'lateReturning',
  'lateReturned',
  'late',
  'overpaid',
  'underpaid',
  'paid_twice',
  'wrong_token',
  'wrong_network',
] as const satisfies readonly (keyof CheckoutStrings)[];

export type PosWords = Strings & Pick<CheckoutStrings, (typeof SHARED)[number]>;

/** The texts of the point of sale in all languages, for the server. The browser gets only the texts of its language, in the document. */
export const STRINGS: Readonly<Record<string, PosWords>> = Object.fromEntries(
  Object.entries({ en, de, fr, es, pt, ja, ar }).map(([locale, own]) => {
    const shared = SHARED.map((key) => [key, CHECKOUT_STRINGS[locale]?.[key]]);
    return [locale, { ...own, ...Object.fromEntries(shared) }];
  }),
);
