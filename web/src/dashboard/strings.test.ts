import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { STRINGS } from './dashboard-words.ts';
import { en } from './strings/en.ts';

const namesIn = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();

describe('the words of the dashboard', () => {
  for (const [locale, strings] of Object.entries(STRINGS)) {
    it(`have the same names to fill in, and no empty text, in ${locale}`, () => {
      for (const [key, text] of Object.entries(en)) {
        const own = strings[key as keyof typeof en];
        assert.deepEqual(namesIn(own), namesIn(text), key);
        assert.ok(own.trim() !== '', key);
      }
    });
  }
});
