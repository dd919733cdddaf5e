import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { createWalletClient, defineChain, type Hex, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { ONLY_LONG } from '../../test/long.ts';
import { until } from '../../test/until.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { runningSandboxChain, type SandboxChain, type SandboxChainInput, startSandboxChain } from './chain-process.ts';
import { SANDBOX_KEYS } from './genesis.ts';
import { processStart } from './os-process.ts';

const quiet = () => {};
const deps = { world: systemWorld, log: { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet } };
const SOMEBODY = '0x00000000000000000000000000000000000ba5e5';

describe('the sandbox chain', () => {
  let root: string;
  let folders = 0;
  const chains: SandboxChain[] = [];
  const children: ChildProcess[] = [];
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'till-chain-'));
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await Promise.all(chains.splice(0).map((chain) => chain.stop()));
  });
  after(() => rm(root, { recursive: true, force: true }));

  const newDir = () => {
    folders += 1;
    return join(root, `chain-${folders}`);
  };
  async function start(input: Partial<SandboxChainInput> = {}): Promise<SandboxChain> {
    const chain = await startSandboxChain(deps, { dir: newDir(), blockMs: 20, ...input });
    chains.push(chain);
    return chain;
  }

  it('answers programs and the pages of its gateway, and no page of another origin', ONLY_LONG, async () => {
    const { rpcUrl } = await start({ pageOrigin: 'http://localhost:8080' });
    const ask = async (origin: string | undefined, method = 'POST') => {
      const headers = { 'content-type': 'application/json', ...(origin !== undefined && { origin }) };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
      const response = await fetch(rpcUrl, { method, headers, ...(method === 'POST' && { body }) });
      return [response.status, response.headers.get('access-control-allow-origin')];
    };
    assert.deepEqual(await ask(undefined), [200, null]);
    assert.deepEqual(await ask('http://localhost:8080'), [200, 'http://localhost:8080']);
    assert.deepEqual(await ask('http://localhost:8080', 'OPTIONS'), [204, 'http://localhost:8080']);
    for (const origin of ['https://evil.example', 'http://localhost:8081', 'null']) {
      assert.deepEqual(await ask(origin), [403, null]);
      assert.deepEqual(await ask(origin, 'OPTIONS'), [403, null]);
    }
  });

  it('has the same blocks, port and identity after it was stopped and started again', ONLY_LONG, async () => {
    const dir = newDir();
    const first = await start({ dir });
    await pay(first, 3n);
    const before = await history(first);
    await Promise.all([first.stop(), first.stop()]);
    assert.equal(await runningSandboxChain(dir), undefined);

    const second = await start({ dir });
    assert.deepEqual([second.rpcUrl, second.genesisHash], [first.rpcUrl, first.genesisHash]);
    assert.deepEqual(await history(second), before);
    assert.deepEqual(await runningSandboxChain(dir), { rpcUrl: second.rpcUrl, genesisHash: second.genesisHash });
    await pay(second, 4n);
    assert.equal(await client(second).getBalance({ address: SOMEBODY }), 7n);
  });

  it('is another one in another folder', ONLY_LONG, async () => {
    const [one, two] = await Promise.all([start(), start()]);
    assert.notEqual(one.genesisHash, two.genesisHash);
    assert.notEqual(one.rpcUrl, two.rpcUrl);
  });

  it('comes back on its port with everything it answered when it is killed in the middle of a burst', async () => {
    const chain = await start();
    const wallet = client(chain);
    const first = await wallet.getTransactionCount({ address: wallet.account.address });
    const signed = await Promise.all(
      Array.from({ length: 60 }, (_, index) => signTransfer(wallet, { nonce: first + index, value: 1n })),
    );
    const answered: Hex[] = [];
    const unanswered: Hex[] = [];
    const { pid } = chain;
    await Promise.all(
      signed.map(async (serializedTransaction) => {
        try {
          answered.push(await wallet.sendRawTransaction({ serializedTransaction }));
          if (answered.length === 30) process.kill(pid, 'SIGKILL');
        } catch {
          unanswered.push(serializedTransaction);
        }
      }),
    );
    assert.ok(answered.length >= 30 && chain.pid !== 0);
    await until('it serves again', async () => chain.pid !== pid && (await isServing(chain)), { withinMs: 60_000 });
    // A transaction without an answer may be lost. Then answered ones with a later nonce wait for it.
    for (const serializedTransaction of unanswered) {
      await wallet.sendRawTransaction({ serializedTransaction }).catch(() => {});
    }
    for (const hash of answered) {
      const receipt = await wallet.waitForTransactionReceipt({ hash, pollingInterval: 20, timeout: 10_000 });
      assert.equal(receipt.status, 'success');
    }
  });

  it('ends together with a gateway that is killed, and the next gateway goes on with it', ONLY_LONG, async () => {
    const dir = newDir();
    const script = `
      const load = (path) => import(new URL(path, ${JSON.stringify(import.meta.url)}));
      const { systemWorld } = await load('../runtime/system-world.ts');
      const { startSandboxChain } = await load('./chain-process.ts');
      const quiet = () => {};
      const log = { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet };
      const chain = await startSandboxChain({ world: systemWorld, log }, { dir: ${JSON.stringify(dir)}, blockMs: 20 });
      process.stdout.write(JSON.stringify({ pid: chain.pid, rpcUrl: chain.rpcUrl }) + '\\n');
      setInterval(() => {}, 1000);`;
    const gateway = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(gateway);
    const [line] = await once(gateway.stdout as NodeJS.ReadableStream, 'data');
    const started = JSON.parse(String(line)) as { pid: number; rpcUrl: string };
    await pay(started, 5n);
    const before = await history(started);
    gateway.kill('SIGKILL');
    const next = await start({ dir });
    assert.equal(next.rpcUrl, started.rpcUrl);
    assert.deepEqual(await history(next), before);
    await until('the old process is gone', async () => (await processStart(started.pid)) === undefined);
  });

  it('refuses methods that could change it without a journal record', async () => {
    const chain = await start();
    const refused = [
      'evm_mine',
      'evm_snapshot',
      'evm_revert',
      'hardhat_setBalance',
      'anvil_setBalance',
      'debug_traceCall',
    ];
    for (const method of [...refused, 'eth_sendTransaction', 'eth_sign', 'eth_accounts']) {
      const { error } = (await call(chain, { jsonrpc: '2.0', id: 9, method, params: [] })) as {
        error: { code: number };
      };
      assert.equal(error?.code, -32601, method);
    }
    const batch = await call(chain, [{ id: 1, method: 'eth_chainId' }, { id: 2, method: 'evm_mine' }, 7]);
    assert.deepEqual(
      (batch as { id: unknown; result?: unknown; error?: { code: number } }[]).map(({ id, result, error }) => [
        id,
        result ?? error?.code,
      ]),
      [
        [1, '0x7a69'],
        [2, -32601],
        [null, -32600],
      ],
    );
  });

  it('can be scripted where a test asks for that, and then keeps nothing', ONLY_LONG, async () => {
    const dir = newDir();
    const chain = await start({ dir, isScriptable: true });
    await call(chain, { id: 1, method: 'hardhat_setBalance', params: [SOMEBODY, '0x2a'] });
    assert.equal(await client(chain).getBalance({ address: SOMEBODY }), 42n);
    await assert.rejects(stat(join(dir, 'journal')), { code: 'ENOENT' });
  });

  it('answers a wrong transaction with the reason, and goes on', async () => {
    const chain = await start();
    const wallet = client(chain);
    const stale = await signTransfer(wallet, { nonce: 0, value: 1n });
    const { error } = (await call(chain, { id: 1, method: 'eth_sendRawTransaction', params: [stale] })) as {
      error: { message: string };
    };
    assert.match(error.message, /nonce/i);
    for (const params of [[], ['0x'], [7], 'x']) {
      const answer = (await call(chain, { id: 1, method: 'eth_sendRawTransaction', params })) as { error?: object };
      assert.ok(answer.error);
    }
    await pay(chain, 1n);
  });

  it('takes another port when its own is taken, unless one is configured', ONLY_LONG, async () => {
    const dir = newDir();
    const first = await start({ dir });
    await first.stop();
    const port = Number(new URL(first.rpcUrl).port);
    const occupant = createServer().listen(port, '127.0.0.1');
    await once(occupant, 'listening');
    try {
      await assert.rejects(start({ port }), /port \d+ is in use. Set SANDBOX_RPC_PORT/);
      const second = await start({ dir });
      assert.notEqual(second.rpcUrl, first.rpcUrl);
      assert.equal(second.genesisHash, first.genesisHash);
    } finally {
      occupant.close();
    }
  });

  it('keeps its files to itself', ONLY_LONG, async () => {
    const dir = newDir();
    await start({ dir });
    for (const file of ['journal', 'genesis.json', 'connection.json', 'chain.log']) {
      assert.equal((await stat(join(dir, file))).mode & 0o777, 0o600, file);
    }
    assert.equal(await readFile(join(dir, 'chain.log'), 'utf8'), '');
  });
});

const sandbox = defineChain({
  id: 31_337,
  name: 'sandbox',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
});

function client({ rpcUrl }: { rpcUrl: string }) {
  return createWalletClient({
    account: privateKeyToAccount(SANDBOX_KEYS.payer),
    chain: sandbox,
    transport: http(rpcUrl, { retryCount: 0 }),
  }).extend(publicActions);
}

function signTransfer(wallet: ReturnType<typeof client>, { nonce, value }: { nonce: number; value: bigint }) {
  return wallet.signTransaction({
    to: SOMEBODY,
    value,
    nonce,
    gas: 21_000n,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    type: 'eip1559',
  });
}

async function pay(chain: { rpcUrl: string }, value: bigint): Promise<void> {
  const wallet = client(chain);
  const hash = await wallet.sendTransaction({ to: SOMEBODY, value });
  await wallet.waitForTransactionReceipt({ hash, pollingInterval: 20, timeout: 10_000 });
}

/** The hashes of the blocks up to the last that holds a transaction; an empty one may follow a moment later. */
async function history(chain: { rpcUrl: string }): Promise<readonly string[]> {
  const wallet = client(chain);
  const hashes: string[] = [];
  let last = 0;
  for (let number = 0n; number <= (await wallet.getBlockNumber({ cacheTime: 0 })); number += 1n) {
    const block = await wallet.getBlock({ blockNumber: number });
    hashes.push(block.hash);
    if (block.transactions.length > 0) last = hashes.length;
  }
  return hashes.slice(0, last);
}

async function isServing(chain: SandboxChain): Promise<boolean> {
  return client(chain)
    .getChainId()
    .then(
      () => true,
      () => false,
    );
}

async function call({ rpcUrl }: { rpcUrl: string }, body: unknown): Promise<unknown> {
  const answer = await fetch(rpcUrl, { method: 'POST', body: JSON.stringify(body) });
  return answer.json();
}
