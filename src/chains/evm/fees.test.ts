import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findNetwork, NETWORKS } from '../../../test/registry.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import type { Network } from '../network.ts';
import { createEvmChain } from './evm-chain.ts';
import { believable, boundedTip } from './fees.ts';
import { feesOf } from './offer.ts';
import type { Transport } from './transport.ts';

/** An Ethereum node whose blocks have paid this tip. */
function node(tip: bigint): Transport {
  const answers: Record<string, unknown> = {
    eth_chainId: '0x1',
    eth_blockNumber: '0x10',
    eth_feeHistory: { baseFeePerGas: ['0x1', '0x1'], reward: [[`0x${tip.toString(16)}`]] },
  };
  return {
    post: async (body) => {
      const calls = JSON.parse(body) as { id: number; method: string }[];
      const answered = calls.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: answers[method] }));
      return { status: 200, text: JSON.stringify(answered) };
    },
    close: () => {},
  };
}

const reported = (...fees: readonly bigint[]) => fees.map((baseFee) => ({ baseFee }));

describe('a base fee', () => {
  it('is the middle of three, so that one liar does not choose it', () => {
    assert.equal(believable(reported(10n, 9_000n, 11n), undefined), 11n);
    assert.equal(believable(reported(10n, 0n, 11n), 900n), 10n);
  });

  it('is the higher of two that are a block apart', () => {
    assert.equal(believable(reported(10n, 11n), 1_000n), 11n);
  });

  it('is the one near the last known fee when two contradict each other', () => {
    assert.equal(believable(reported(10n, 9_000n), 12n), 10n);
    assert.equal(believable(reported(10n, 9_000n), 8_000n), 9_000n);
    assert.equal(believable(reported(0n, 10n), 12n), 10n);
  });
});

describe('the cap of tips', () => {
  it('is above the least tip of each network', () => {
    for (const { chainId, minTip = 0n, maxTip = 20_000_000_000n } of NETWORKS) assert.ok(minTip < maxTip, chainId);
  });

  it('is the network’s own, whatever its endpoints report', () => {
    assert.equal(boundedTip(900_000_000_000n, { maxTip: 1_000_000_000n }), 1_000_000_000n);
    assert.equal(boundedTip(900_000_000_000n, {}), 20_000_000_000n);
    assert.equal(boundedTip(5_000_000n, { maxTip: 1_000_000_000n }), 5_000_000n);
    assert.equal(boundedTip(0n, { minTip: 7n, maxTip: 1_000_000_000n }), 7n);
  });

  it('is in each offer, although two endpoints report more', async () => {
    const network = { ...(findNetwork('eip155:1') as Network), maxTip: 3_000_000_000n };
    const endpoints = [node(4_000_000_000n), node(5_000_000_000n)];
    const chain = createEvmChain({ world: systemWorld, network, endpoints });
    assert.equal(feesOf(await chain.sender.suggestOffer()).tip, 3_000_000_000n);
    chain.close();
  });
});
