import { STRINGS as CHECKOUT_STRINGS } from '../checkout/locale.ts';
import { type Strings as CheckoutStrings, en as checkoutEn } from '../checkout/strings/en.ts';
import { ar } from './strings/ar.ts';
import { de } from './strings/de.ts';
import { en, type Strings } from './strings/en.ts';
import { es } from './strings/es.ts';
import { fr } from './strings/fr.ts';
import { ja } from './strings/ja.ts';
import { pt } from './strings/pt.ts';

export const STRINGS: Readonly<Record<string, Strings>> = { en, de, fr, es, pt, ja, ar };

/** The texts of receipts, and the texts that receipts share with the checkout. */
export type ReceiptWords = Omit<CheckoutStrings, keyof Strings> & Strings;

export function wordsIn(locale: string): ReceiptWords {
  return { ...(CHECKOUT_STRINGS[locale] ?? checkoutEn), ...(STRINGS[locale] ?? en) };
}
