import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Amount } from './money.ts';
import { decimalText, formatAmount, formatEstimate, shortened } from './money.ts';

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

describe('money', () => {
  it('puts the point where it belongs', () => {
    assert.equal(decimalText('1234', 2), '12.34');
    assert.equal(decimalText('5', 2), '0.05');
    assert.equal(decimalText('100', 0), '100');
    assert.equal(decimalText('0', 18), `0.${'0'.repeat(18)}`);
  });

  it('speaks the language of the payer', () => {
    assert.equal(plain(formatAmount(fiat('EUR', '123456', 2), 'en')), '€1,234.56');
    assert.equal(plain(formatAmount(fiat('EUR', '123456', 2), 'de')), '1.234,56 €');
    assert.equal(plain(formatAmount(fiat('JPY', '1200', 0), 'ja')), '￥1,200');
    assert.equal(plain(formatAmount(token('USDC', '42500000', 6), 'fr')), '42,50 USDC');
    assert.match(plain(formatAmount(fiat('USD', '1234', 2), 'ar')), /12\.34/);
  });

  it('is exact where floating-point numbers are not', () => {
    const huge = fiat('USD', '9007199254740993123456789', 2);
    assert.equal(plain(formatAmount(huge, 'en')), '$90,071,992,547,409,931,234,567.89');
  });

  it('shows currencies nobody knows', () => {
    assert.equal(plain(formatAmount(fiat('NOPE', '150', 2), 'en')), '1.50 NOPE');
  });

  it('shortens coins, never to less than is paid', () => {
    assert.deepEqual(shortened(token('ETH', '1', 18)), { text: '0.00000001', isExact: false });
    assert.deepEqual(shortened(token('ETH', '2500000000000000', 18)), { text: '0.00250000', isExact: true });
    assert.equal(formatAmount(token('ETH', '2500000000000001', 18), 'en'), '0.00250001 ETH');
  });

  it('estimates with two digits that count, rounded up', () => {
    assert.equal(formatEstimate(1_234_567_890_123_456n, 18, 'en'), '0.0013');
    assert.equal(formatEstimate(7n, 18, 'en'), '0.000000000000000007');
    assert.equal(formatEstimate(12_345_678n, 6, 'en'), '13');
  });
});
