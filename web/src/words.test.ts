import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
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
