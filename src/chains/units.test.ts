import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ASSETS, REGISTRY } from '../../test/registry.ts';
import { parseUnit, storedUnit } from './units.ts';

const USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

describe('the unit of an amount', () => {
  it('is a currency, or a token under its canonical id', () => {
    const dollar = { id: 'iso4217/USD', symbol: 'USD', name: 'US Dollar', decimals: 2, token: undefined };
    assert.deepEqual(parseUnit(REGISTRY, 'iso4217/USD'), { ok: true, value: dollar });
    const token = { asset: USDC, chainId: 'eip155:8453', networkName: 'Base' };
    const unit = { id: `caip19/${USDC}`, symbol: 'USDC', name: 'USD Coin', decimals: 6, token };
    assert.deepEqual(parseUnit(REGISTRY, `caip19/${USDC}`), { ok: true, value: unit });
    assert.deepEqual(parseUnit(REGISTRY, `caip19/${USDC.toLowerCase()}`), { ok: true, value: unit });
  });

  it('is found for every listed asset', () => {
    for (const { id, symbol, decimals } of ASSETS) {
      const unit = storedUnit(REGISTRY, `caip19/${id}`, 0);
      assert.deepEqual([unit.id, unit.symbol, unit.decimals], [`caip19/${id}`, symbol, decimals]);
    }
  });

  it('is refused when unknown, and stays readable if stored before', () => {
    const unknown = 'caip19/eip155:8453/erc20:0xdAC17F958D2ee523a2206206994597C13D831ec7';
    for (const text of [unknown, 'iso4217/XYZ', 'caip19/nonsense', USDC, '']) {
      assert.equal(parseUnit(REGISTRY, text).ok, false, text);
    }
    const stored = { id: unknown, symbol: unknown, name: unknown, decimals: 6, token: undefined };
    assert.deepEqual(storedUnit(REGISTRY, unknown, 6), stored);
  });
});
