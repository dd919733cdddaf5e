import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ASSETS, findAsset } from '../../test/registry.ts';
import { weightOf } from './weight.ts';

const USDC = 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const ETH = 'eip155:1/slip44:60';

describe('the weight of an amount', () => {
  it('is the number of tokens where one is worth one, rounded up', () => {
    assert.equal(weightOf(findAsset(USDC), 100_000_000n), 100n);
    assert.equal(weightOf(findAsset(USDC), 100_000_001n), 101n);
  });

  it('is an upper bound of its value for an asset without a peg', () => {
    assert.equal(weightOf(findAsset(ETH), 10n ** 16n), 100n);
    assert.equal(weightOf(findAsset('eip155:1/erc20:0x0000000000000000000000000000000000000001'), 1n), 100_000n);
  });

  it('is known for every asset that is pegged to nothing and can be paid with', () => {
    const unknown = ASSETS.filter(({ peg, pay }) => peg === undefined && pay !== undefined).filter(
      ({ id, decimals }) => weightOf(findAsset(id), 10n ** BigInt(decimals)) >= 100_000n,
    );
    assert.deepEqual(unknown, []);
  });
});
