import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findProcesses, processCommand } from '../../src/sandbox/os-process.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { ONLY_LONG } from '../long.ts';
import { type NodeProcess, startNodeProcess } from '../node-process.ts';
import { until } from '../until.ts';

const NETWORK = 'eip155:31337';
const CHAIN_PROGRAM = join(import.meta.dirname, '../../src/sandbox/chain-program.ts');

interface Sandbox {
  readonly apiKey: string;
  readonly merchantId: string;
  readonly chains: Record<string, { rpcUrl: string; assets: Record<string, string> }>;
  readonly payer: { address: string; privateKey: string; accounts: string[] };
}

describe('a gateway without configured networks', () => {
  let folder: string;
  let database: TestDatabase;
  const nodes: NodeProcess[] = [];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-sandbox-'));
    database = await createTestDatabase();
  });
  after(async () => {
    for (const node of nodes) node.signal('SIGKILL');
    await Promise.all(nodes.map(({ ended }) => ended));
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  async function start(home: string, settings: Record<string, string> = {}): Promise<NodeProcess> {
    const node = await startNodeProcess({
      TILL_HOME: join(folder, home),
      DATABASE_URL: database.url,
      SANDBOX: '1',
      LOG_LEVEL: 'warn',
      ...settings,
    });
    nodes.push(node);
    return node;
  }
  const sandboxOf = async (node: NodeProcess) => (await node.ready()) as unknown as Sandbox;
  const rpcUrlOf = ({ chains }: Sandbox) => chains[NETWORK]?.rpcUrl ?? '';
  /** The chains that run for this home. */
  async function chainProcesses(home: string): Promise<number[]> {
    const pids = await findProcesses(`${process.execPath} ${CHAIN_PROGRAM}`);
    const commands = await Promise.all(pids.map(processCommand));
    return pids.filter((_, index) => commands[index]?.includes(join(folder, home)));
  }

  it('starts its own chain, reports it, and continues it after a kill', ONLY_LONG, async () => {
    const first = await start('a');
    const sandbox = await sandboxOf(first);
    assert.deepEqual(Object.keys(sandbox.chains[NETWORK]?.assets ?? {}).toSorted(), ['ETH', 'EURC', 'USDC', 'USDT']);
    assert.deepEqual(sandbox.payer.accounts, [`${NETWORK}:${sandbox.payer.address}`]);
    const genesis = await blockHash(rpcUrlOf(sandbox), '0x0');
    const ready = (await (await fetch(`${first.baseUrl}/ready`)).json()) as { chains: Record<string, unknown>[] };
    assert.deepEqual(
      ready.chains.map(({ network, state, endpoints }) => ({ network, state, endpoints })),
      [{ network: NETWORK, state: 'up', endpoints: 1 }],
    );
    assert.deepEqual(ready.chains[0]?.remarks, [], 'the gateway trusts its own chain');

    const destinations = await fetch(`${first.baseUrl}/v1/merchants/${sandbox.merchantId}/settlements`, {
      headers: { 'Api-Key': sandbox.apiKey },
    });
    const text = await destinations.text();
    for (const [symbol, isDirect] of [
      ['USDC', true],
      ['EURC', true],
      ['USDT', false],
    ] as const) {
      assert.equal(text.includes(sandbox.chains[NETWORK]?.assets[symbol] ?? '?'), isDirect, `${symbol}: ${text}`);
    }

    first.signal('SIGKILL');
    assert.equal(await first.ended, 'SIGKILL');
    const second = await start('a');
    const again = await sandboxOf(second);
    assert.deepEqual(again.chains, sandbox.chains);
    assert.equal(await blockHash(rpcUrlOf(again), '0x0'), genesis);
    assert.equal((await chainProcesses('a')).length, 1, 'the chain of the killed gateway is gone');

    const [chainPid = 0] = await chainProcesses('a');
    process.kill(chainPid, 'SIGKILL');
    await until('the chain is back', async () => (await blockHash(rpcUrlOf(again), '0x0')) === genesis, {
      withinMs: 60_000,
    });

    second.signal('SIGTERM');
    assert.equal(await second.ended, 0, second.output());
    assert.deepEqual(await chainProcesses('a'), [], 'nothing is left behind');
  });

  it(
    'refuses a database that goes with the chain of another node, and says how to join that one',
    ONLY_LONG,
    async () => {
      const first = await start('a');
      const sandbox = await sandboxOf(first);
      const stranger = await start('b');
      assert.equal(await stranger.ended, 1);
      assert.match(stranger.output(), /cannot start: .*set RPC_URLS=eip155:31337=/);
      assert.doesNotMatch(stranger.output(), /\bat .*\.ts:\d+/, 'a sentence, not a stack');
      assert.deepEqual(await chainProcesses('b'), []);

      const RPC_URLS = `${NETWORK}=${rpcUrlOf(sandbox)}`;
      const keyless = await start('c', { RPC_URLS });
      assert.equal(await keyless.ended, 1);
      assert.match(keyless.output(), /cannot start: .*another master secret.*TILL_SECRET_FILE/);
      assert.doesNotMatch(keyless.output(), /\bat .*\.ts:\d+/, 'a sentence, not a stack');

      const joined = await start('c', { RPC_URLS, TILL_SECRET_FILE: join(folder, 'a', 'secret') });
      const { chains } = await sandboxOf(joined);
      assert.deepEqual(chains, sandbox.chains);
      assert.deepEqual(await chainProcesses('c'), []);
      for (const node of [joined, first]) {
        node.signal('SIGTERM');
        assert.equal(await node.ended, 0, node.output());
      }
    },
  );
});

async function blockHash(rpcUrl: string, number: string): Promise<string | undefined> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: [number, false] });
  const answer = await fetch(rpcUrl, { method: 'POST', body }).catch(() => undefined);
  return ((await answer?.json()) as { result?: { hash?: string } } | undefined)?.result?.hash;
}
