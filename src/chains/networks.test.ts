import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ASSETS, assetsOf, coinOf, findAsset, findNetwork, NETWORKS } from '../../test/registry.ts';
import { parseAsset, parseChainId } from '../domain/caip.ts';
import { separatorOf } from './evm/typed-data.ts';

const WALLETS_WAIT_MS = 45_000;

/** The published results of `DOMAIN_SEPARATOR()` of these contracts. */
const SEPARATORS_ON_CHAIN: Readonly<Record<string, string>> = {
  'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48':
    '0x06c37168a7db5138defc7866392bb87a741f9b3d104deb5094588ce041cae335',
  'eip155:1/erc20:0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c':
    '0x99f188f447f0c6eaf68589359cd2ead8c2faaaaee984ab926fdb734d0040073b',
  'eip155:10/erc20:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85':
    '0x26d9c34bb1a1c312f69c53b2d93b8be20faafba63af2438c6811713c9b1f933f',
  'eip155:137/erc20:0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359':
    '0xcaa2ce1a5703ccbe253a34eb3166df60a705c561b44b192061e28f2a985be2ca',
  'eip155:143/erc20:0x754704Bc059F8C67012fEd69BC8A327a5aafb603':
    '0xfe22123edc0dd4aeb912eb7948c5f0e531592c2053b3067612f427db342c93c6',
  'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913':
    '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f',
  'eip155:8453/erc20:0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42':
    '0xec4dcbded0afd42599589b79220899bbe000bb5ea66d6f1bc176e78d094203bb',
  'eip155:42161/erc20:0xaf88d065e77c8cC2239327C5EDb3A432268e5831':
    '0x08d11903f8419e68b1b8721bcbe2e9fc68569122a77ef18c216f10b3b5112c78',
  'eip155:42161/erc20:0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9':
    '0x566af68fb471b22d6421762f84aa7bd761c670a2e4d5c8a47d4085d5957b127c',
  'eip155:42220/erc20:0xcebA9300f2b948710d2653dD7B07f33A8B32118C':
    '0xb2ce31d2838445fa765a491f550e7c78ac7280ab0f3bc9d6063a86df9c3fb578',
  'eip155:84532/erc20:0x036CbD53842c5426634e7929541eC2318f3dCF7e':
    '0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818',
};

describe('networks and assets', () => {
  it('are in canonical spelling, each once, and every asset is on a known network', () => {
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

  it('are all in docs/tokens.md, and it has no others', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/tokens.md'), 'utf8');
    const known = ASSETS.flatMap(({ id }) => /(?:erc20|token):(.+)$/.exec(id)?.[1] ?? []);
    const named = [...page.matchAll(/`(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{43,44})`/g)].map(
      (match) => match[1] ?? '',
    );
    assert.deepEqual(new Set(named), new Set(known));
  });

  it('have the EIP-712 domains of the contracts on chain', () => {
    for (const [asset, separator] of Object.entries(SEPARATORS_ON_CHAIN)) {
      const [network = '', contract = ''] = asset.split('/erc20:');
      const pay = findAsset(asset)?.pay;
      assert.ok(pay !== undefined && 'domain' in pay, asset);
      const computed = separatorOf({ ...pay.domain, contract }, Number(network.split(':')[1]));
      assert.equal(`0x${computed.toString('hex')}`, separator, asset);
    }
  });

  it('know that dollars on BNB Smart Chain have 18 decimals', () => {
    assert.equal(findAsset('eip155:56/erc20:0x55d398326f99059fF775485246999027B3197955')?.decimals, 18);
    assert.equal(findAsset('eip155:56/erc20:0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d')?.decimals, 18);
  });
});
