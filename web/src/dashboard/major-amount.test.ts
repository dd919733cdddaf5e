import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatMajor } from './major-amount.ts';

const EN = { locale: 'en', dir: 'ltr' } as const;
/** Whether a space breaks is up to the tables of each version. */
const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ');

describe('a total', () => {
  it('has the decimals of the API in totals, and takes no token for a currency', () => {
    const total = (amount: string, currency: string, kind: 'currency' | 'token', decimals: number) =>
      plain(formatMajor({ amount, currency, kind, decimals }, EN));
    assert.equal(total('0.0049', 'ETH', 'token', 18), '0.0049 ETH');
    assert.equal(total('1234.5', 'HUF', 'currency', 2), 'HUF 1,234.50');
    assert.equal(total('99999.99', 'IDR', 'currency', 2), 'IDR 99,999.99');
    assert.equal(total('7', 'JPY', 'currency', 0), '¥7');
  });
});
