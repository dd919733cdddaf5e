import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemWorld } from '../../../src/runtime/system-world.ts';
import { findPort } from '../../../src/sandbox/free-port.ts';
import { until } from '../../until.ts';
import type { InstalledNode, NodeName } from './install-node.ts';

/** A node of another implementation, in a separate process. */
export interface OtherNode {
  readonly rpcUrl: string;
  request(method: string, params?: readonly unknown[]): Promise<unknown>;
  stop(): Promise<void>;
}

const READY_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 5_000;
const ANSWER_WITHIN_MS = 20_000;

/** It mines on request, or a block every so many milliseconds. */
export async function startNode(
  name: NodeName,
  installed: InstalledNode,
  { chainId, blockMs = 0 }: { readonly chainId: number; readonly blockMs?: number },
): Promise<OtherNode> {
  const port = await findPort(systemWorld.random);
  const child = await STARTERS[name]({ ...installed, chainId, blockMs, port });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes) => (output += bytes));
  let isOver = false;
  const ended = once(child, 'close').then(() => {
    isOver = true;
  });
  const rpcUrl = `http://127.0.0.1:${port}`;

  async function request(method: string, params: readonly unknown[] = []): Promise<unknown> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = await fetch(rpcUrl, { method: 'POST', body, headers, signal });
    const { result, error } = (await answer.json()) as { result?: unknown; error?: { message: string } };
    if (error !== undefined) throw new Error(`${name} refused ${method}: ${error.message}`);
    return result;
  }

  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    const cut = systemWorld.timers.after(STOP_WITHIN_MS, () => child.kill('SIGKILL'));
    await ended;
    cut();
  }

  try {
    const isReady = async () => {
      if (isOver) throw new Error(`${name} ended before it was ready: ${output}`);
      return (await request('eth_chainId').catch(() => undefined)) === `0x${chainId.toString(16)}`;
    };
    await until(`${name} answers`, isReady, { withinMs: READY_WITHIN_MS });
  } catch (error) {
    await stop();
    throw error;
  }
  return { rpcUrl, request, stop };
}

interface StartInput extends InstalledNode {
  readonly chainId: number;
  /** 0 to mine on request. */
  readonly blockMs: number;
  readonly port: number;
}

const STARTERS: Readonly<Record<NodeName, (input: StartInput) => Promise<ChildProcess>>> = {
  async hardhat({ folder, program, chainId, blockMs, port }) {
    const config = join(folder, `hardhat.${chainId}.${blockMs}.config.cjs`);
    const hardhat = {
      chainId,
      accounts: [],
      hardfork: 'osaka',
      // Many blocks a second must not make the chain's clock run ahead.
      allowBlocksWithSameTimestamp: true,
      mining: { auto: false, interval: blockMs },
    };
    await writeFile(config, `module.exports = ${JSON.stringify({ networks: { hardhat } })};\n`);
    const options = ['--config', config, 'node', '--hostname', '127.0.0.1', '--port', String(port)];
    return spawn(process.execPath, [program, ...options], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  },
  async anvil({ folder, program, chainId, blockMs, port }) {
    const options = ['--chain-id', String(chainId), '--port', String(port)];
    const mining = blockMs === 0 ? ['--no-mining'] : ['--block-time', String(blockMs / 1_000)];
    return spawn(program, [...options, '--accounts', '0', '--hardfork', 'osaka', '--silent', ...mining], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  },
};
