import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findNetwork, NETWORKS, REGISTRY } from '../../test/registry.ts';
import { finalityOf, isSmall } from './finality.ts';
import type { FinalityTier, Network } from './network.ts';

const deps = { registry: REGISTRY };
const USDC = 'eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const ethereum = (tiers: readonly FinalityTier[], loneCeiling?: bigint): Network => {
  const network = findNetwork('eip155:1');
  assert.ok(network?.finality);
  return { ...network, finality: { ...network.finality, tiers, ...(loneCeiling !== undefined && { loneCeiling }) } };
};
const dollars = (count: number) => ({ asset: USDC, amount: `${count}000000` });

describe('the finality that a payment needs', () => {
  it('is the depth of its network, and the most that any tier of its amount asks for', () => {
    const network = ethereum([
      { from: 1_000n, depth: 4 },
      { from: 5_000n, tag: 'safe' },
      { from: 50_000n, depth: 3, tag: 'finalized' },
    ]);
    assert.deepEqual(finalityOf(deps, network, dollars(999)), { depth: 2, tag: undefined });
    assert.deepEqual(finalityOf(deps, network, dollars(1_000)), { depth: 4, tag: undefined });
    assert.deepEqual(finalityOf(deps, network, dollars(5_000)), { depth: 4, tag: 'safe' });
    assert.deepEqual(finalityOf(deps, network, dollars(50_000)), { depth: 4, tag: 'finalized' });
  });

  it('keeps every payment under 45 seconds where no operator asks for more: wallets give up after 60', () => {
    for (const { name, finality } of NETWORKS) {
      if (finality === undefined) continue;
      const depths = [finality.depth, ...(finality.tiers ?? []).map(({ depth = 0 }) => depth)];
      assert.ok(Math.max(...depths) * finality.blockTimeMs < 45_000, name);
      assert.ok(
        (finality.tiers ?? []).every(({ tag }) => tag === undefined),
        name,
      );
    }
  });

  it('may come from one endpoint alone up to the ceiling, in whole tokens', () => {
    assert.equal(isSmall(deps, ethereum([]), dollars(100)), true);
    assert.equal(isSmall(deps, ethereum([]), dollars(101)), false);
    assert.equal(isSmall(deps, ethereum([], 5_000n), dollars(5_000)), true);
    assert.equal(isSmall(deps, ethereum([], 0n), dollars(1)), false);
  });

  it('is that of the same amount at home for money that lies on another network than its asset', () => {
    const base = findNetwork('eip155:8453');
    assert.ok(base?.finality);
    const tiered = { ...base, finality: { ...base.finality, tiers: [{ from: 1_000n, tag: 'finalized' as const }] } };
    assert.deepEqual([isSmall(deps, tiered, dollars(100)), isSmall(deps, tiered, dollars(101))], [true, false]);
    assert.equal(finalityOf(deps, tiered, dollars(999)).tag, undefined);
    assert.equal(finalityOf(deps, tiered, dollars(1_000)).tag, 'finalized');
  });

  it('is the strictest for money whose asset no record describes', () => {
    const unknown = { asset: 'eip155:1/erc20:0x0000000000000000000000000000000000000001', amount: '1' };
    const network = ethereum([{ from: 50_000n, tag: 'finalized' }]);
    assert.equal(isSmall(deps, network, unknown), false);
    assert.equal(finalityOf(deps, network, unknown).tag, 'finalized');
  });
});
