import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ratio, recordRate } from '../domain/rate.ts';
import { sandboxRates } from './sandbox-rates.ts';

const NOW_MS = Date.UTC(2026, 2, 1);

describe('the rates of the sandbox', () => {
  it('come from a fixed table, and every quote says so', () => {
    const rate = sandboxRates().rateOf('ETH', 'EUR', NOW_MS);
    assert.ok(rate);
    assert.deepEqual(rate.value, ratio(25_000n, 11n));
    const atS = NOW_MS / 1000;
    assert.deepEqual(recordRate(rate).readings, [
      { source: 'sandbox table', pair: 'ETH/USD', price: '2500', atS },
      { source: 'sandbox table', pair: 'EUR/USD', price: '1.1', atS },
    ]);
  });

  it('are the same both ways', () => {
    assert.deepEqual(sandboxRates().rateOf('USD', 'EUR', NOW_MS)?.value, ratio(10n, 11n));
    assert.deepEqual(sandboxRates().rateOf('EUR', 'USD', NOW_MS)?.value, ratio(11n, 10n));
  });

  it('are known beforehand', () => {
    assert.equal(sandboxRates().covers('ETH', 'JPY'), true);
    assert.equal(sandboxRates().covers('ETH', 'XAF'), false);
    assert.equal(sandboxRates().covers('USD', 'USD'), false);
  });

  it('are missing for pairs outside the table', () => {
    assert.equal(sandboxRates().rateOf('DOGE', 'USD', NOW_MS), undefined);
    assert.equal(sandboxRates().rateOf('ETH', 'XAF', NOW_MS), undefined);
    assert.equal(sandboxRates().rateOf('USD', 'USD', NOW_MS), undefined);
  });
});
