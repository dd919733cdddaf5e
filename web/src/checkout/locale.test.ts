import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fill } from '../shared/text.ts';
import { LOCALES, pickLocale, STRINGS } from './locale.ts';
import { REFUND_STRINGS, type RefundStrings } from './refund/refund-strings.ts';
import { en, type Strings } from './strings/en.ts';

const namesIn = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();

describe('languages', () => {
  it('are chosen by the address, then by the browser, else English', () => {
    assert.equal(pickLocale('de-CH,de;q=0.9,en;q=0.8', undefined), 'de');
    assert.equal(pickLocale('sv,fr;q=0.5,ar;q=0.9', undefined), 'ar');
    assert.equal(pickLocale('de', 'ja'), 'ja');
    assert.equal(pickLocale('pt-BR', 'xx'), 'pt');
    assert.equal(pickLocale(undefined, undefined), 'en');
    assert.equal(pickLocale('*;q=0.1, de;q=0', '__proto__'), 'en');
    assert.equal(pickLocale(`${'x,'.repeat(100_000)}de`, undefined), 'en');
  });

  for (const [locale, strings] of Object.entries(STRINGS)) {
    it(`${locale} has every sentence, with the same things in it`, () => {
      assert.ok(Object.hasOwn(LOCALES, locale));
      for (const key of Object.keys(en) as (keyof Strings)[]) {
        assert.notEqual(strings[key]?.trim() ?? '', '', key);
        assert.deepEqual(namesIn(strings[key]), namesIn(en[key]), key);
      }
      assert.deepEqual(Object.keys(strings).sort(), Object.keys(en).sort());
    });
  }

  for (const [locale, strings] of Object.entries(REFUND_STRINGS)) {
    it(`${locale} has every sentence about signing for a refund`, () => {
      const english = REFUND_STRINGS.en ?? strings;
      for (const [key, text] of Object.entries(strings)) {
        assert.notEqual(text.trim(), '', key);
        assert.deepEqual(namesIn(text), namesIn(english[key as keyof RefundStrings]), key);
      }
      assert.deepEqual(Object.keys(REFUND_STRINGS).sort(), Object.keys(STRINGS).sort());
    });
  }

  it('are filled in without expanding the values', () => {
    assert.equal(fill('{a} and {b}', { a: '{b} $1 $&', b: 'x' }), '{b} $1 $& and x');
  });
});
