import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REGISTRY } from '../../test/registry.ts';
import { amountText, coinDecimal, tokenText } from './amount-text.ts';

const USDC = 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

test('amounts read as people write them, with the token and the network by name', () => {
  assert.equal(amountText(REGISTRY, USDC, 40_000_000n), '40.00 USDC on Base');
  assert.equal(amountText(REGISTRY, USDC, '12500000'), '12.50 USDC on Base');
  assert.equal(amountText(REGISTRY, USDC, 1n), '0.000001 USDC on Base', 'nothing is rounded away');
  assert.equal(amountText(REGISTRY, USDC, 0n), '0.00 USDC on Base');
  assert.equal(amountText(REGISTRY, USDC, -1_500_000n), '-1.50 USDC on Base');
  assert.equal(tokenText(REGISTRY, USDC, 40_000_000n), '40.00 USDC');
});

test('the coin of a network has its symbol, also where nobody can pay with it; that of an unknown network is a coin', () => {
  assert.equal(amountText(REGISTRY, 'eip155:84532/slip44:60', 10n ** 16n), '0.01 ETH on Base Sepolia');
  assert.equal(amountText(REGISTRY, 'eip155:999999/slip44:60', 10n ** 16n), '0.01 coin on eip155:999999');
  assert.equal(amountText(REGISTRY, 'eip155:8453/slip44:60', 10n ** 16n), '0.01 ETH on Base');
});

test('an asset that is not listed is named by its id, in units', () => {
  assert.equal(amountText(REGISTRY, 'eip155:8453/erc20:0xAB', 7n), '7 units of eip155:8453/erc20:0xAB');
});

test('coin has the decimals of its network, for programs too', () => {
  const coin = { id: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:501', symbol: 'SOL', decimals: 9 };
  assert.equal(coinDecimal({ coin }, 1_500_000_000n), '1.5');
  assert.equal(coinDecimal({ coin: { ...coin, decimals: 18 } }, 10n ** 17n), '0.1');
});
