import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { STRINGS as CHECKOUT } from './checkout/locale.ts';
import { REFUND_STRINGS as REFUNDS } from './checkout/refund/refund-strings.ts';
import { STRINGS as LINKS } from './links/link-words.ts';
import { STRINGS as POS } from './pos/pos-words.ts';
import { STRINGS as RECEIPTS } from './receipts/receipt-words.ts';

const namesIn = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();

const PAGES: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  'payment links': LINKS,
  'point of sale': POS,
  receipts: RECEIPTS,
};

for (const [page, languages] of Object.entries(PAGES)) {
  describe(`the words of the ${page}`, () => {
    for (const [locale, strings] of Object.entries(languages)) {
      it(`have the same names to fill in, and no empty text, in ${locale}`, () => {
        for (const [key, text] of Object.entries(languages.en ?? {})) {
          const own = strings[key] ?? '';
          assert.deepEqual(namesIn(own), namesIn(text), key);
          assert.ok(own.trim() !== '', key);
        }
      });
    }
  });
}

/**
 * Sentences that deny a charge without the act that charged nothing, or deny that money came. A page knows the outcome of one act,
 * such as a declined request. It does not know all money of the payment: some can lie at a deposit address, and another request may
 * be under way.
 */
const DENIALS: Readonly<Record<string, RegExp>> = {
  en: /nothing (?:was|is|has been) (?:charged|taken)(?! on this page)|still in your account|not paid/i,
  de: /(?:wurde|(?<!auf dieser Seite )wird) nichts abgebucht|noch auf Ihrem Konto|nicht bezahlt/i,
  fr: /rien n’(?:a été|est(?: encore)?) débité(?! sur cette page)|toujours sur votre compte|(?:non|pas été) payé/i,
  es: /(?<!en esta página )no se (?:ha cobrado|cobra) nada|sigue en tu cuenta|no (?:se ha )?pagado/i,
  pt: /nada (?:foi|é) cobrado(?! nesta página)|continua na sua conta|não (?:foi )?pago/i,
  ja: /請求は発生し(?:ていません|ません)|(?<!では何も)請求されていません|アカウントに残っています|未払い|(?<!何も)支払われていません/,
  ar: /يُخصم (?:أي )?شيء(?! في هذه الصفحة)|ما زال في حسابك|لم [يت]ُدفع(?! أي شيء| شيء)/,
};

describe('the words that show how a payment has ended', () => {
  const pages: typeof PAGES = { ...PAGES, checkout: CHECKOUT, refunds: REFUNDS };
  for (const [page, languages] of Object.entries(pages)) {
    it(`deny a charge of one act alone, never of the whole payment, on the page of ${page}`, () => {
      for (const [locale, strings] of Object.entries(languages)) {
        const denial = DENIALS[locale];
        assert.ok(denial, `there are words for ${locale}`);
        const found = Object.entries(strings).filter(([, text]) => denial.test(text));
        assert.deepEqual(Object.fromEntries(found), {}, locale);
      }
    });
  }
});
