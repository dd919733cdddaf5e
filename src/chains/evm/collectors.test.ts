import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keccak256 } from 'viem';
import artifact from '../../../contracts/artifacts/Collector.json' with { type: 'json' };
import { checksumAddress } from '../../domain/addresses/eip155.ts';
import { createSandboxEvm } from '../../sandbox/sandbox-evm.ts';
import { COLLECTOR_ADDRESS } from './collector.ts';
import { COLLECTORS, type ContractRelease, DEPOSIT_CONTRACTS, releaseFor } from './collectors.ts';
import { DEPOSITS_ADDRESS } from './deposits.ts';

describe('the releases of the Collector', () => {
  it('end with the one that this source builds', () => {
    const newest = COLLECTORS.at(-1);
    assert.equal(newest?.address, COLLECTOR_ADDRESS);
    assert.equal(newest?.codeHash, keccak256(artifact.deployedBytecode as `0x${string}`));
  });

  it('end with the contract of deposit addresses that this source builds', async () => {
    const evm = await createSandboxEvm({ mining: 'auto' });
    const newest = DEPOSIT_CONTRACTS.at(-1);
    assert.equal(newest?.address, DEPOSITS_ADDRESS);
    // The code contains its own address.
    const code = await evm.request({ method: 'eth_getCode', params: [DEPOSITS_ADDRESS, 'latest'] });
    await evm.close();
    assert.equal(newest?.codeHash, keccak256(code as `0x${string}`));
  });

  it('are in order, each once, and in canonical spelling', () => {
    const times = COLLECTORS.map(({ since }) => Date.parse(since));
    assert.deepEqual(times, times.toSorted());
    assert.ok(times.every(Number.isFinite));
    assert.equal(new Set(COLLECTORS.map(({ address }) => address)).size, COLLECTORS.length);
    for (const { address, codeHash } of COLLECTORS) {
      assert.equal(checksumAddress(address.toLowerCase()), address);
      assert.match(codeHash, /^0x[0-9a-f]{64}$/);
    }
  });

  it('are each in force from their moment on, as far as the network has them', () => {
    const release = (address: string, since: string): ContractRelease => ({ address, codeHash: '', since });
    const [first, second] = [release('first', '2026-01-01'), release('second', '2026-06-01')];
    const [before, after] = [Date.UTC(2026, 4, 31, 23, 59, 59), Date.UTC(2026, 5, 1)];
    assert.equal(releaseFor(before, [first, second]), first);
    assert.equal(releaseFor(after, [first, second]), second);
    assert.equal(releaseFor(after, [first]), first);
    assert.equal(releaseFor(before, [second]), second);
    assert.equal(releaseFor(after, []), undefined);
  });
});
