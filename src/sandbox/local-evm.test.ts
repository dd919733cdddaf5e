import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Hex, keccak256, stringToBytes } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { manualTime } from '../../test/manual-time.ts';
import { until } from '../../test/until.ts';
import { createLocalEvm, type LocalEvm, type LocalEvmOptions, RpcError } from './local-evm.ts';

const alice = privateKeyToAccount(keccak256(stringToBytes('alice')));
const BOB = '0x00000000000000000000000000000000000000b0';
/** Reverts with the one byte 0x42. */
const REVERTER = '0x00000000000000000000000000000000000000f0';

const start = (options: Partial<LocalEvmOptions> = {}) =>
  createLocalEvm({
    genesis: [
      { address: alice.address, balance: 10n ** 20n },
      { address: REVERTER, code: '0x60426000526001601ffd', storage: [{ slot: '0x05', value: '0x07' }] },
    ],
    mining: 'auto',
    ...options,
  });

const payBob = (nonce: number): Promise<Hex> =>
  alice.signTransaction({
    type: 'eip1559',
    chainId: 31337,
    nonce,
    to: BOB,
    value: 1n,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 1n,
  });

async function send(evm: LocalEvm, nonce: number): Promise<string> {
  return (await evm.request({ method: 'eth_sendRawTransaction', params: [await payBob(nonce)] })) as string;
}

const bobs = async (evm: LocalEvm) => Number(await evm.request({ method: 'eth_getBalance', params: [BOB, 'latest'] }));

async function head(evm: LocalEvm): Promise<{ number: number; hash: string; timestamp: number }> {
  const block = await evm.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
  const { number, hash, timestamp } = block as { number: string; hash: string; timestamp: string };
  return { number: Number(number), hash, timestamp: Number(timestamp) };
}

describe('a local chain', () => {
  it('starts from the genesis it is given', async () => {
    const evm = await start({ chainId: 4242, initialTimestamp: 1_700_000_000 });
    assert.equal(await evm.request({ method: 'eth_chainId' }), '0x1092');
    assert.equal((await head(evm)).timestamp, 1_700_000_000);
    const slot = await evm.request({ method: 'eth_getStorageAt', params: [REVERTER, '0x5', 'latest'] });
    assert.equal(Number(slot), 7);
  });

  it('mines the first block before anyone can ask', async () => {
    const evm = await start({ firstBlock: [await payBob(0), await payBob(1)] });
    assert.equal((await head(evm)).number, 1);
    assert.equal(await bobs(evm), 2);
  });

  it('reports the reason of a failed call, with the contract’s revert data', async () => {
    const evm = await start();
    const call = evm.request({ method: 'eth_call', params: [{ to: REVERTER, data: '0x' }, 'latest'] });
    await assert.rejects(call, (error) => error instanceof RpcError && error.data === '0x42');
    await assert.rejects(evm.request({ method: 'nonsense' }), (error) => error instanceof RpcError && error.code < 0);
  });

  it('answers requests and batches in the form of JSON-RPC', async () => {
    const evm = await start();
    const call = { id: 'c', method: 'eth_call', params: [{ to: REVERTER, data: '0x' }, 'latest'] };
    const answers = JSON.parse(await evm.rpc(JSON.stringify([{ id: 7, method: 'eth_chainId' }, call, 5])));
    assert.deepEqual(answers[0], { jsonrpc: '2.0', id: 7, result: '0x7a69' });
    assert.equal(answers[1].id, 'c');
    assert.equal(answers[1].error.data, '0x42');
    assert.equal(answers[2].error.code, -32600);
    assert.deepEqual(JSON.parse(await evm.rpc('{"id":1,"method":"eth_blockNumber"}')), {
      jsonrpc: '2.0',
      id: 1,
      result: '0x0',
    });
    assert.equal(JSON.parse(await evm.rpc('{')).error.code, -32700);
    assert.equal(JSON.parse(await evm.rpc('[]')).error.code, -32600);
  });

  it('refuses a transaction that asks for more gas than any may have', async () => {
    const evm = await start();
    const gas = { type: 'eip1559', chainId: 31337, nonce: 0, to: BOB, gas: 2n ** 24n + 1n } as const;
    const raw = await alice.signTransaction({ ...gas, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n });
    await assert.rejects(evm.request({ method: 'eth_sendRawTransaction', params: [raw] }), RpcError);
  });

  it('mines by hand, and keeps transactions waiting until then', async () => {
    const evm = await start({ mining: 'manual' });
    await send(evm, 1);
    await send(evm, 0);
    assert.equal(await bobs(evm), 0);
    await evm.mine();
    assert.equal(await bobs(evm), 2);
  });

  it('mines by the clock when something waits, or when it has been idle for long', async () => {
    const time = manualTime();
    const evm = await start({ mining: { intervalMs: 1000, idleMs: 60_000 }, world: time });
    const tick = async (ms: number) => {
      await time.advance(ms);
      await evm.request({ method: 'eth_blockNumber' });
    };
    await tick(1000);
    assert.equal((await head(evm)).number, 0);
    await send(evm, 0);
    await tick(1000);
    await until('Bob was paid', async () => (await bobs(evm)) === 1);
    await tick(59_000);
    assert.equal((await head(evm)).number, 1);
    await tick(1000);
    await until('an idle block', async () => (await head(evm)).number === 2);
    await evm.close();
  });

  it('travels in time', async () => {
    const evm = await start({ initialTimestamp: 1_700_000_000 });
    await evm.request({ method: 'evm_setNextBlockTimestamp', params: [1_700_009_999] });
    await evm.mine();
    assert.equal((await head(evm)).timestamp, 1_700_009_999);
    await evm.request({ method: 'evm_increaseTime', params: [3600] });
    await evm.mine();
    assert.ok((await head(evm)).timestamp >= 1_700_013_599);
  });

  it('takes blocks away, and goes on from there', async () => {
    const evm = await start();
    for (const nonce of [0, 1, 2]) await send(evm, nonce);
    await evm.rollback(2);
    assert.equal(await bobs(evm), 1);
    assert.equal((await head(evm)).number, 1);
    await send(evm, 1);
    assert.equal(await bobs(evm), 2);
  });

  it('puts other blocks in the place of the last ones, without their transactions or with them', async () => {
    const evm = await start();
    for (const nonce of [0, 1, 2]) await send(evm, nonce);
    const first = await head(evm);
    await evm.reorg(2, 'kept');
    const second = await head(evm);
    assert.equal(await bobs(evm), 3);
    await evm.reorg(2);
    const third = await head(evm);
    assert.equal(await bobs(evm), 1);
    assert.deepEqual([first.number, second.number, third.number], [3, 3, 3]);
    assert.equal(new Set([first.hash, second.hash, third.hash]).size, 3);
    await send(evm, 1);
    assert.equal(await bobs(evm), 2);
  });

  it('can go back at least 64 blocks, and says so when it cannot', async () => {
    const evm = await start();
    await evm.mine(200);
    const before = await head(evm);
    await evm.reorg(64);
    assert.equal((await head(evm)).number, 200);
    assert.notEqual((await head(evm)).hash, before.hash);
    await assert.rejects(evm.rollback(190), RangeError);
  });

  it('survives snapshots that a caller takes and goes back to', async () => {
    const evm = await start();
    await evm.mine(3);
    const snapshot = await evm.request({ method: 'evm_snapshot' });
    await evm.mine(3);
    await evm.request({ method: 'evm_revert', params: [snapshot] });
    await evm.mine();
    await evm.rollback(2);
    assert.equal((await head(evm)).number, 2);
  });
});
