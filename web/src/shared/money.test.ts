import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Amount } from './money.ts';
import { formatAmount, formatEstimate, formatPrice, shortened } from './money.ts';

const fiat = (code: string, value: string, decimals: number): Amount => ({
  unit: `iso4217/${code}`,
  value,
  display: { assetSymbol: code, assetName: code, decimals },
});
const token = (assetSymbol: string, value: string, decimals: number): Amount => ({
  unit: 'caip19/eip155:1/erc20:0x1',
  value,
  display: { assetSymbol, assetName: assetSymbol, decimals },
});
/** Whether a space breaks, and how wide it is, is up to the tables of each version. */
const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, ' ');
const shown = (amount: Amount, locale: string) => plain(formatAmount(amount, { locale, dir: 'ltr' }));
const EN = { locale: 'en', dir: 'ltr' } as const;
const AR = { locale: 'ar', dir: 'rtl' } as const;

describe('money', () => {
  it('speaks the language of the payer', () => {
    assert.equal(shown(fiat('EUR', '123456', 2), 'en'), '€1,234.56');
    assert.equal(shown(fiat('EUR', '123456', 2), 'de'), '1.234,56 €');
    assert.equal(shown(fiat('JPY', '1200', 0), 'ja'), '￥1,200');
    assert.equal(shown(token('USDC', '42500000', 6), 'fr'), '42,50 USDC');
  });

  it('has the number before the currency in a right-to-left language, with bidi isolates', () => {
    // Some locale tables add a right-to-left mark of their own.
    const arabic = (amount: Amount) => plain(formatAmount(amount, AR)).replaceAll('\u200f', '');
    assert.equal(arabic(fiat('EUR', '4250', 2)), '\u206742.50 \u2068€\u2069\u2069');
    assert.equal(arabic(fiat('USD', '123456', 2)), '\u20671,234.56 \u2068US$\u2069\u2069');
    assert.equal(arabic(token('EURC', '42500000', 6)), '\u206742.50 \u2068EURC\u2069\u2069');
    assert.equal(plain(formatEstimate(1_234_567n, 6, 'ETH', AR)), '\u20671.3 \u2068ETH\u2069\u2069');
  });

  it('shows a price with three to six significant digits', () => {
    assert.equal(formatPrice('2272.7273', 'EUR', EN), '€2,272.73');
    assert.equal(formatPrice('1.1', 'USD', EN), '$1.10');
    assert.equal(formatPrice('2500', 'USD', EN), '$2,500');
    assert.equal(plain(formatPrice('0.0068027211', 'NOPE', EN)), '0.0068027211 NOPE');
  });

  it('is exact where floating-point numbers are not', () => {
    const huge = fiat('USD', '9007199254740993123456789', 2);
    assert.equal(shown(huge, 'en'), '$90,071,992,547,409,931,234,567.89');
  });

  it('has the decimals of the gateway where locale data has none', () => {
    for (const code of ['HUF', 'IDR', 'CLP']) assert.equal(shown(fiat(code, '150050', 2), 'en'), `${code} 1,500.50`);
  });

  it('shows unknown currencies', () => {
    assert.equal(shown(fiat('NOPE', '150', 2), 'en'), '1.50 NOPE');
  });

  it('shortens coins, never to less than is paid', () => {
    assert.deepEqual(shortened(token('ETH', '1', 18)), { text: '0.00000001', isExact: false });
    assert.deepEqual(shortened(token('ETH', '2500000000000000', 18)), { text: '0.00250000', isExact: true });
    assert.equal(shown(token('ETH', '2500000000000001', 18), 'en'), '0.00250001 ETH');
  });

  it('estimates with two digits that count, rounded up', () => {
    const estimate = (units: bigint, decimals: number) => plain(formatEstimate(units, decimals, 'ETH', EN));
    assert.equal(estimate(1_234_567_890_123_456n, 18), '0.0013 ETH');
    assert.equal(estimate(7n, 18), '0.000000000000000007 ETH');
    assert.equal(estimate(12_345_678n, 6), '13 ETH');
  });
});
