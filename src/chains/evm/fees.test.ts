import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NETWORKS } from '../../../test/registry.ts';
import { believable, boundedTip } from './fees.ts';

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
});
