import { spawn } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log, World } from '../runtime/world.ts';
import type { ChainOrder, ChainReport } from './chain-program.ts';
import { findPort } from './free-port.ts';
import { keepRunning } from './keep-running.ts';
import { processEnding } from './postgres-account.ts';
import { boundLog, readIfThere, writeWhole } from './postgres-folder.ts';

export interface SandboxChain {
  /** The URL stays the same across restarts of the chain and of the gateway. */
  readonly rpcUrl: string;
  /** The hash of the genesis block, unique to this chain. */
  readonly genesisHash: string;
  readonly pid: number;
  /** Ends the process. Later calls wait for the same end. */
  stop(): Promise<void>;
}

export interface SandboxChainInput {
  readonly dir: string;
  /** The port of the chain. If undefined, the port of the last start is used, or any free port. */
  readonly port?: number | undefined;
  readonly blockMs: number;
  readonly isScriptable?: boolean;
  /** The origin of the gateway's pages. The chain refuses requests of other web pages. */
  readonly pageOrigin?: string;
}

interface Deps {
  readonly world: World;
  readonly log: Log;
}

const PROGRAM = join(import.meta.dirname, 'chain-program.ts');
/** How long the start of a chain may take. A chain of a hundred thousand transactions is rebuilt in about two minutes. */
const READY_WITHIN_MS = 180_000;
/** How long to wait for the chain process of a killed gateway, which keeps folder and port for a moment. */
const OLD_PROCESS_ENDS_WITHIN_MS = 10_000;
const RETRY_MS = 100;
/** The most ports that are tried. Five ports taken in a row are not a coincidence. */
const MAX_PORTS = 5;
const STOP_WITHIN_MS = 2_000;
const PROBE_MS = 2_000;

export class ChainStartError extends Error {
  readonly code: string;
  constructor(code: string, reason: string) {
    super(`The sandbox chain did not start: ${reason}`);
    this.name = 'ChainStartError';
    this.code = code;
  }
}

/** Starts the chain of a folder, creating it at the first start. If the process dies, it is started again on the same port. */
export async function startSandboxChain(deps: Deps, input: SandboxChainInput): Promise<SandboxChain> {
  await mkdir(input.dir, { recursive: true, mode: 0o700 });
  const { child, port } = await startFirst(deps, input);
  const running: Running = { order: orderOf(input, port), rpcUrl: `http://127.0.0.1:${port}`, child };
  await writeWhole(connectionFile(input.dir), `${JSON.stringify({ port })}\n`);
  deps.log.info({ pid: child.pid, port, dir: input.dir }, 'the sandbox chain is ready');
  return supervise(deps, running);
}

/** The chain of a gateway that is running in this folder, for commands and other nodes. */
export async function runningSandboxChain(
  dir: string,
): Promise<Pick<SandboxChain, 'rpcUrl' | 'genesisHash'> | undefined> {
  const port = await knownPort(dir);
  if (port === undefined) return undefined;
  const rpcUrl = `http://127.0.0.1:${port}`;
  const genesisHash = await askGenesis(rpcUrl);
  return genesisHash === undefined ? undefined : { rpcUrl, genesisHash };
}

async function askGenesis(rpcUrl: string): Promise<string | undefined> {
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['0x0', false] };
  try {
    const answer = await fetch(rpcUrl, {
      method: 'POST',
      body: JSON.stringify(call),
      signal: AbortSignal.timeout(PROBE_MS),
    });
    const { result } = (await answer.json()) as { result?: { hash?: unknown } };
    return typeof result?.hash === 'string' ? result.hash : undefined;
  } catch {
    return undefined;
  }
}

const connectionFile = (dir: string) => join(dir, 'connection.json');

async function knownPort(dir: string): Promise<number | undefined> {
  const text = await readIfThere(connectionFile(dir));
  const port = text === undefined ? undefined : (JSON.parse(text) as { port?: unknown }).port;
  return typeof port === 'number' ? port : undefined;
}

/**
 * Starts the chain on the configured port, or else on the port of the last start. If another program has taken the port of the last
 * start, the chain gets a new one.
 */
async function startFirst(deps: Deps, input: SandboxChainInput): Promise<{ child: ChainChild; port: number }> {
  const retryUntilMs = deps.world.clock.nowMs() + OLD_PROCESS_ENDS_WITHIN_MS;
  let port = input.port ?? (await knownPort(input.dir)) ?? (await findPort(deps.world.random));
  for (let portsTaken = 0; ; ) {
    try {
      return { child: await startChild(deps, orderOf(input, port)), port };
    } catch (error) {
      const code = error instanceof ChainStartError ? error.code : '';
      if (code === 'EADDRINUSE' && input.port === undefined && portsTaken < MAX_PORTS) {
        portsTaken += 1;
        port = await findPort(deps.world.random);
      } else if (code === 'IN_USE' && deps.world.clock.nowMs() < retryUntilMs) {
        await deps.world.timers.sleep(RETRY_MS);
      } else {
        throw error;
      }
    }
  }
}

function orderOf({ dir, blockMs, isScriptable = false, pageOrigin }: SandboxChainInput, port: number): ChainOrder {
  return { dir, port, blockMs, isScriptable, pageOrigin };
}

interface ChainChild {
  readonly pid: number;
  readonly genesisHash: string;
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<string>;
  kill(signal: NodeJS.Signals): void;
}

async function startChild({ world }: Deps, order: ChainOrder, signal?: AbortSignal): Promise<ChainChild> {
  const logFile = join(order.dir, 'chain.log');
  await boundLog(logFile);
  const log = await open(logFile, 'a', 0o600);
  // The chain has its own session, so that Ctrl-C in the terminal reaches only the gateway, which stops the chain as its last step.
  // The chain has an empty environment, so that the gateway's secrets are not passed on.
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(order)], {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  });
  await log.close();
  const ended = processEnding(child);
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  const reported = new Promise<ChainReport>((resolve) =>
    child.once('message', (report: ChainReport) => resolve(report)),
  );
  const settled = new AbortController();
  const patience = AbortSignal.any([settled.signal, ...(signal === undefined ? [] : [signal])]);
  const report = await Promise.race([
    reported,
    ended.then((ending) => ({ code: 'ENDED', message: `${ending}; see ${logFile}` })),
    world.timers.sleep(READY_WITHIN_MS, patience).then(() => ({ code: 'LATE', message: 'it was not ready in time' })),
  ]);
  settled.abort();
  if ('genesisHash' in report) return { pid: child.pid ?? 0, genesisHash: report.genesisHash, ended, kill };
  kill('SIGKILL');
  await ended;
  throw new ChainStartError(report.code, startAdvice(report, order));
}

function startAdvice({ code, message }: { code: string; message: string }, { port }: ChainOrder): string {
  return code === 'EADDRINUSE' ? `port ${port} is in use. Set SANDBOX_RPC_PORT to a free port.` : message;
}

interface Running {
  readonly order: ChainOrder;
  readonly rpcUrl: string;
  readonly child: ChainChild;
}

function supervise(deps: Deps, running: Running): SandboxChain {
  const stopping = new AbortController();
  let child = running.child;
  let stopped: Promise<void> | undefined;
  const { signal } = stopping;
  const watching = keepRunning(
    deps,
    {
      name: 'the sandbox chain',
      first: child,
      start: () => startChild(deps, running.order, signal),
      onRestarted: (next) => {
        child = next;
      },
    },
    signal,
  );
  const stop = async () => {
    stopping.abort();
    await watching;
    child.kill('SIGTERM');
    const cut = deps.world.timers.after(STOP_WITHIN_MS, () => child.kill('SIGKILL'));
    await child.ended;
    cut();
  };
  return {
    rpcUrl: running.rpcUrl,
    genesisHash: running.child.genesisHash,
    get pid() {
      return child.pid;
    },
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}
