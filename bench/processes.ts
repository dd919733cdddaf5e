import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { systemWorld } from '../src/runtime/system-world.ts';
import { findPort } from '../src/sandbox/free-port.ts';

const STOP_WITHIN_MS = 20_000;
const TOOL_OUTPUT_BYTES = 4 * 1024 * 1024;
const children = new Set<ChildProcess>();

/** The gateway as `npm start` starts it. A processor profile is taken through the port of its inspector. */
export function gatewayArgs(inspectPort?: number): string[] {
  return inspectPort === undefined ? GATEWAY : [`--inspect=127.0.0.1:${inspectPort}`, ...GATEWAY];
}

const GATEWAY = [
  '--import',
  new URL('../src/compile-cache.ts', import.meta.url).href,
  '--max-semi-space-size=64',
  fileURLToPath(new URL('../src/main.ts', import.meta.url)),
];

/** Starts a server of the benchmark; it inherits only the named environment variables. */
export function startProcess(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return follow(child);
}

/** Starts a program in a folder; it inherits only the named environment variables. */
export function startProgram(
  program: string,
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const { PATH, HOME } = process.env;
  return follow(
    spawn(program, args, { cwd: folder, env: { PATH, HOME, ...env }, stdio: ['ignore', 'ignore', 'inherit'] }),
  );
}

/** Starts a client of the benchmark, which exchanges messages with this process. */
export function startClient(file: URL): ChildProcess {
  return follow(fork(file, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
}

/** The next message of a client; fails when the client ends or sends none in time. */
export async function messageOf<T>(client: ChildProcess, { withinMs }: { withinMs: number }): Promise<T> {
  const end = new AbortController();
  const timer = setTimeout(() => end.abort(new Error(`A client said nothing for ${withinMs} ms.`)), withinMs);
  const onExit = () => end.abort(new Error('A client ended too early.'));
  client.once('exit', onExit);
  try {
    const [message] = await once(client, 'message', { signal: end.signal });
    return message as T;
  } catch (error) {
    throw end.signal.reason ?? error;
  } finally {
    clearTimeout(timer);
    client.off('exit', onExit);
  }
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(force);
}

/** Stops every child process, so that none outlives the benchmark. */
export async function stopAllProcesses(): Promise<void> {
  await Promise.all([...children].map(stopProcess));
}

/** Runs a program to its end and returns its output. */
export async function runTool(
  program: string,
  args: readonly string[],
  { withinMs, env = {} }: { withinMs: number; env?: Readonly<Record<string, string>> },
): Promise<string> {
  const options = { env: { ...process.env, ...env }, timeout: withinMs, maxBuffer: TOOL_OUTPUT_BYTES };
  return (await promisify(execFile)(program, args, options)).stdout;
}

export function freePort(): Promise<number> {
  return findPort(systemWorld.random);
}

/** Waits until the condition returns a value. The error after the timeout names the condition. */
export async function until<T>(
  what: string,
  condition: () => Promise<T | undefined>,
  { withinMs, everyMs = 50 }: { withinMs: number; everyMs?: number },
): Promise<T> {
  const endMs = Date.now() + withinMs;
  for (;;) {
    const found = await condition();
    if (found !== undefined) return found;
    if (Date.now() > endMs) throw new Error(`${what}: not within ${withinMs} ms.`);
    await sleep(everyMs);
  }
}

/** Resident memory of a process, in KB. */
export async function residentKb(pid: number): Promise<number> {
  return Number(await runTool('ps', ['-o', 'rss=', '-p', String(pid)], { withinMs: 5_000 }));
}

function follow(child: ChildProcess): ChildProcess {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}
