import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { ONLY_LONG } from '../../test/long.ts';
import { manualTime } from '../../test/manual-time.ts';
import { until } from '../../test/until.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { answer } from './chain-server.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS, SANDBOX_TOKENS } from './genesis.ts';
import { type KeptChain, openKeptChain } from './kept-chain.ts';

const HOUR_MS = 3_600_000;

describe('a kept chain', () => {
  let root: string;
  let folders = 0;
  const opened: KeptChain[] = [];
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'till-kept-'));
  });
  after(async () => {
    await Promise.all(opened.map((chain) => chain.close()));
    await rm(root, { recursive: true, force: true });
  });

  function newFolder(): string {
    folders += 1;
    return join(root, String(folders));
  }

  async function open(dir = newFolder()) {
    const time = manualTime();
    const chain = await openKeptChain(
      { ...systemWorld, clock: time.clock, timers: { ...systemWorld.timers, after: time.timers.after } },
      { dir, blockMs: 200, isScriptable: false, onBroken: assert.ifError },
    );
    opened.push(chain);
    const rpc = async (method: string, params: unknown[] = []) =>
      JSON.parse(await answer(chain, { isScriptable: false }, JSON.stringify({ id: 1, method, params }))).result;
    const head = async () => {
      const { number, timestamp } = await rpc('eth_getBlockByNumber', ['latest', false]);
      return { number: Number(number), timestampMs: Number(timestamp) * 1000 };
    };
    return { time, chain, dir, rpc, head };
  }

  it('shows a head that is at most fifteen seconds old while it is in use', async () => {
    const { time, rpc, head } = await open();
    for (let minute = 0; minute < 30; minute += 1) {
      await rpc('eth_call', [{ to: `0x${'11'.repeat(20)}` }, 'latest']);
      await time.advance(20_000);
      assert.ok(time.clock.nowMs() - (await head()).timestampMs < 15_000);
    }
  });

  it('mines no block when the head is young, and none without a call', async () => {
    const { time, head } = await open();
    const first = await head();
    await time.advance(10_000);
    assert.deepEqual(await head(), first);
    await time.advance(24 * HOUR_MS);
    assert.equal((await head()).number, first.number + 1);
  });

  it('mines fewer and fewer blocks while idle, although its head is polled', ONLY_LONG, async () => {
    const { time, head } = await open();
    for (let asked = 0; asked < 30 * 24 * 12; asked += 1) {
      await time.advance(HOUR_MS / 12);
      await head();
    }
    const { number, timestampMs } = await head();
    assert.ok(number < 250, `${number} blocks in a month`);
    assert.ok(time.clock.nowMs() - timestampMs <= (30 * 24 * HOUR_MS) / 20 + HOUR_MS);
  });

  it('lets a deadline pass in time however long it has idled before', async () => {
    const { time, rpc, head } = await open();
    await time.advance(30 * 24 * HOUR_MS);
    await rpc('eth_call', [{ to: `0x${'11'.repeat(20)}` }, 'latest']);
    const deadlineMs = time.clock.nowMs() + HOUR_MS;
    await time.advance(HOUR_MS + 4 * 60_000);
    assert.ok((await head()).timestampMs > deadlineMs);
  });

  it('keeps its first contracts, also when a later version begins new chains with others', async () => {
    const { chain, dir } = await open();
    await chain.close();
    opened.splice(opened.indexOf(chain), 1);
    const file = join(dir, 'genesis.json');
    const genesis = JSON.parse(await readFile(file, 'utf8')) as { predeploys: { address: string; code?: string }[] };
    const token = genesis.predeploys.find(({ address }) => address === SANDBOX_TOKENS.USDC);
    assert.ok(token);
    token.code = '0x600660005260206000f3';
    await writeFile(file, JSON.stringify(genesis));
    const { rpc, head } = await open(dir);
    assert.equal(await rpc('eth_getCode', [SANDBOX_TOKENS.USDC, 'latest']), token.code);
    assert.equal((await head()).number, 1);
  });

  it('writes a block down before it can be seen', async () => {
    const { time, dir, head } = await open();
    await time.advance(60_000);
    const { timestampMs } = await head();
    const lines = (await readFile(join(dir, 'journal'), 'latin1')).trim().split('\n');
    assert.deepEqual(JSON.parse(lines.at(-1)?.slice(9) ?? '').block, { timestampS: timestampMs / 1000 });
  });

  it('moves its time forward with a block, never back, and stays there after it was closed', async () => {
    const { time, chain, dir, rpc, head } = await open();
    const before = await head();
    assert.equal(await rpc('till_moveAhead', [HOUR_MS]), true);
    const moved = await head();
    assert.deepEqual(moved, { number: before.number + 1, timestampMs: time.clock.nowMs() + HOUR_MS });
    for (const aheadMs of [0, 1_000, HOUR_MS]) await rpc('till_moveAhead', [aheadMs]);
    assert.deepEqual(await head(), moved, 'less or the same changes nothing');
    for (const params of [[], [-1], [1.5], ['60000'], [Number.MAX_SAFE_INTEGER]]) {
      assert.equal(await rpc('till_moveAhead', params), undefined, JSON.stringify(params));
    }
    await chain.close();
    const again = await open(dir);
    await again.time.advance(60_000);
    assert.equal((await again.head()).timestampMs, again.time.clock.nowMs() + HOUR_MS);
  });

  it('replaces blocks by others with the same transactions, once, and rebuilds the same branch', async () => {
    const { time, chain, dir, rpc, head } = await open();
    const account = privateKeyToAccount(SANDBOX_KEYS.payer);
    const send = async (nonce: number) => {
      const fees = { gas: 21_000n, maxFeePerGas: 10_000_000_000n, maxPriorityFeePerGas: 1n };
      const to = SANDBOX_ACCOUNTS.merchant;
      const raw = await account.signTransaction({ type: 'eip1559', chainId: 31_337, nonce, to, value: 1n, ...fees });
      const hash = await rpc('eth_sendRawTransaction', [raw]);
      await time.advance(200);
      await until('it is mined', async () => (await rpc('eth_getTransactionReceipt', [hash])) !== null);
      return hash as string;
    };
    const first = Number(await rpc('eth_getTransactionCount', [account.address, 'latest']));
    const sent = [await send(first), await send(first + 1)];
    await rpc('till_moveAhead', [HOUR_MS]);
    sent.push(await send(first + 2));
    const receipt = (hash?: string) => rpc('eth_getTransactionReceipt', [hash]);
    const kept = await receipt(sent[0]);
    const { blockNumber, blockHash } = await receipt(sent[1]);
    const timeOf = async (hash: string) => (await rpc('eth_getBlockByHash', [hash, false])).timestamp;
    const minedAt = await timeOf(blockHash);
    const before = await head();
    assert.equal(await rpc('till_replaceBlocks', [Number(blockNumber), blockHash]), true);

    assert.deepEqual(await receipt(sent[0]), kept, 'blocks below stay');
    const moved = await Promise.all(sent.slice(1).map(receipt));
    for (const each of moved) assert.notEqual(each.blockHash, blockHash);
    assert.deepEqual(
      moved.map(({ status }) => status),
      ['0x1', '0x1'],
    );
    assert.deepEqual(await head(), before, 'the new branch is as long, and ends at the same time');
    assert.equal(await timeOf(moved[0].blockHash), minedAt, 'no transaction is later than it was');
    assert.equal(await rpc('till_replaceBlocks', [Number(blockNumber), blockHash]), false, 'that block is gone');
    assert.deepEqual(await Promise.all(sent.slice(1).map(receipt)), moved);
    for (const params of [
      [1, blockHash],
      [0, blockHash],
      [10_000, blockHash],
    ]) {
      assert.equal(await rpc('till_replaceBlocks', params), false, 'the first block, and blocks to come');
    }
    for (const params of [[], [-1, blockHash], ['1', blockHash], [1, 2]]) {
      assert.equal(await rpc('till_replaceBlocks', params), undefined, JSON.stringify(params));
    }

    await chain.close();
    const again = await open(dir);
    const rebuilt = await Promise.all(sent.slice(1).map((hash) => again.rpc('eth_getTransactionReceipt', [hash])));
    assert.deepEqual(rebuilt, moved);
  });
});
