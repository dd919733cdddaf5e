import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAsset, parseChainId } from '../domain/caip.ts';
import { coinOf } from './coin.ts';
import { ASSETS, assetsOf, findAsset, findNetwork, NETWORKS } from './networks.ts';

const WALLETS_WAIT_MS = 45_000;

describe('networks and assets', () => {
  it('are in canonical spelling, each once, and every asset lies on a known network', () => {
    for (const { chainId } of NETWORKS) assert.equal(parseChainId(chainId).ok, true, chainId);
    for (const { id } of ASSETS) {
      const parsed = parseAsset(id);
      assert.ok(parsed.ok, id);
      assert.equal(parsed.value.id, id);
      assert.ok(findNetwork(parsed.value.chainId), id);
    }
    assert.equal(new Set(ASSETS.map(({ id }) => id)).size, ASSETS.length);
    assert.equal(new Set(NETWORKS.map(({ chainId }) => chainId)).size, NETWORKS.length);
  });

  it('let every payment succeed before wallets give up, with a block lost on the way', () => {
    for (const { chainId, finality } of NETWORKS.filter((network) => network.chainId.startsWith('eip155:'))) {
      assert.ok(finality, chainId);
      assert.ok((finality.depth + 1) * finality.blockTimeMs < WALLETS_WAIT_MS, chainId);
      assert.ok(finality.depth >= 1 && finality.reason.length > 20, chainId);
    }
  });

  it('say of every EVM asset how it is paid with, and of coins alone that they are sent', () => {
    for (const { id, pay } of ASSETS.filter((asset) => asset.id.startsWith('eip155:'))) {
      assert.ok(pay, id);
      assert.equal(pay.method === 'native', id.includes('/slip44:'), id);
    }
  });

  it('name the coin of each network by its number in SLIP-44', () => {
    const named = NETWORKS.map(({ chainId, name }) => [name, coinOf(chainId).replace(`${chainId}/slip44:`, '')]);
    const others = named.filter(([, number]) => number !== '60');
    assert.deepEqual(Object.fromEntries(others), {
      'BNB Smart Chain': '714',
      Polygon: '966',
      'Polygon Amoy': '966',
      Monad: '268435779',
      Celo: '52752',
      Solana: '501',
      'Solana Devnet': '501',
      'Solana Testnet': '501',
    });
    for (const { id } of ASSETS.filter((asset) => asset.id.includes('/slip44:'))) {
      assert.equal(id, coinOf(id.split('/')[0] ?? ''));
    }
  });

  it('peg the dollar and euro tokens, and nothing whose price moves', () => {
    for (const { symbol, peg } of ASSETS) {
      const expected = /^EUR/.test(symbol) ? 'EUR' : /USD/.test(symbol) ? 'USD' : undefined;
      assert.equal(peg, expected, symbol);
    }
  });

  it('round quotes to cents for tokens at par, and to at most 6 decimals for coins', () => {
    for (const { id, peg, decimals, quoteDecimals } of ASSETS) {
      assert.ok(quoteDecimals <= decimals, id);
      if (peg !== undefined) assert.equal(quoteDecimals, 2, id);
      else assert.ok(quoteDecimals >= 2 && quoteDecimals <= 6, id);
    }
  });

  it('give the sandbox a token of every method', () => {
    const methods = assetsOf('eip155:31337').map(({ symbol, pay }) => [symbol, pay?.method]);
    assert.deepEqual(methods, [
      ['ETH', 'native'],
      ['USDC', 'eip3009-vrs'],
      ['EURC', 'eip3009-bytes'],
      ['USDT', 'permit2'],
    ]);
  });

  it('know that dollars on BNB Smart Chain have 18 decimals', () => {
    assert.equal(findAsset('eip155:56/erc20:0x55d398326f99059fF775485246999027B3197955')?.decimals, 18);
    assert.equal(findAsset('eip155:56/erc20:0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d')?.decimals, 18);
  });
});
