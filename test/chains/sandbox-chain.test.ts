import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before } from 'node:test';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { type SandboxChain, startSandboxChain } from '../../src/sandbox/chain-process.ts';
import { describeChain } from './conformance.ts';
import { createEvmHarness, type ScriptedEvm } from './evm-harness.ts';

/** Blocks come when they are asked for: the next one of its own is days away. */
const BLOCK_MS = 20 * 24 * 3_600_000;

const quiet = () => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet, fatal: quiet };
let dir: string;
let sandbox: SandboxChain;

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'till-conformance-'));
  sandbox = await startSandboxChain({ world: systemWorld, log }, { dir, blockMs: BLOCK_MS, isScriptable: true });
});

after(async () => {
  await sandbox?.stop();
  await rm(dir, { recursive: true, force: true });
});

describeChain("the EVM adapter on the sandbox's chain process", async () => createEvmHarness(await openSandbox()));

/** A block that can be gone back to, and what was sent between the one before it and itself. */
interface Checkpoint {
  readonly snapshot: unknown;
  readonly sent: readonly string[];
}

/** One process serves all tests: each goes back to where it began. Between it and the adapter stands a door. */
async function openSandbox(): Promise<ScriptedEvm> {
  let isReachable = true;
  let sent: string[] = [];
  let reorgs = 0;
  const door = createServer(async (request, response) => {
    const body = await text(request);
    if (!isReachable) return void request.socket.destroy();
    sent.push(...sentIn(JSON.parse(body)));
    response.setHeader('content-type', 'application/json').end(await post(body));
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const checkpoints: Checkpoint[] = [];

  async function request(method: string, params: readonly unknown[] = []): Promise<unknown> {
    const call = { jsonrpc: '2.0', id: 1, method, params };
    sent.push(...sentIn(call));
    const { result, error } = JSON.parse(await post(JSON.stringify(call)));
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  async function checkpoint(): Promise<void> {
    checkpoints.push({ snapshot: await request('evm_snapshot'), sent });
    sent = [];
  }

  async function mine(): Promise<void> {
    await request('evm_mine');
    await checkpoint();
  }

  async function reorg(depth: number, transactions: 'forgotten' | 'kept'): Promise<void> {
    const undone = checkpoints.splice(checkpoints.length - depth);
    await request('evm_revert', [checkpoints.pop()?.snapshot]);
    sent = [];
    await checkpoint();
    reorgs += 1;
    await request('hardhat_setPrevRandao', [`0x${reorgs.toString(16).padStart(64, '0')}`]);
    if (transactions === 'kept') {
      for (const raw of undone.flatMap((block) => block.sent)) await request('eth_sendRawTransaction', [raw]);
    }
    for (let mined = 0; mined < depth; mined += 1) await mine();
  }

  const beginning = await request('evm_snapshot');
  return {
    rpcUrl: `http://127.0.0.1:${(door.address() as AddressInfo).port}`,
    request,
    mine,
    reorg,
    setReachable: async (value) => {
      isReachable = value;
    },
    close: async () => {
      await request('evm_revert', [beginning]);
      door.closeAllConnections();
      door.close();
    },
  };
}

async function post(body: string): Promise<string> {
  const answer = await fetch(sandbox.rpcUrl, { method: 'POST', body, signal: AbortSignal.timeout(10_000) });
  return answer.text();
}

function sentIn(body: unknown): string[] {
  const calls = (Array.isArray(body) ? body : [body]) as { method: string; params: string[] }[];
  return calls.filter(({ method }) => method === 'eth_sendRawTransaction').flatMap(({ params }) => params);
}
