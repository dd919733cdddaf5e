import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { systemWorld } from '../src/runtime/system-world.ts';
import { findPort } from '../src/sandbox/free-port.ts';
import { programFile } from './bundled-nodes.ts';
import type { CrashOrder } from './crash/crash-node.ts';
import type { Ran } from './run-command.ts';
import { until } from './until.ts';

const ROOT = join(import.meta.dirname, '..');
/** Characters of a node's output that explain why it did not become ready. */
const LAST_WORDS = 2_000;

export interface NodeProcess {
  readonly baseUrl: string;
  readonly pid: number;
  /** Its standard output and error so far. */
  output(): string;
  /** Waits until it takes requests. */
  takesRequests(): Promise<void>;
  /** Waits until the sandbox takes requests, and reads its `sandbox.json`. */
  ready(): Promise<{ apiKey: string; merchantId: string; appId: string; baseUrl: string }>;
  signal(name: NodeJS.Signals): void;
  /** Sends a message over the channel of a node with crash points. */
  send(message: CrashOrder): void;
  /** Signals the process and its children, as a terminal does; only for a process that leads a group. */
  signalGroup(name: NodeJS.Signals): void;
  isOver(): boolean;
  /** True if it has printed its example of a request, after it began to listen. */
  hasStarted(): boolean;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

type Settings = { TILL_HOME: string } & Record<string, string>;

/** A gateway in a separate process. */
export function startNodeProcess(settings: Settings, args: readonly string[] = []): Promise<NodeProcess> {
  return startProcess([process.execPath, programFile('main'), ...args], settings, {});
}

/** Where an operator has put Till, and where its commands are run: that folder may have an `.env`. */
export interface Installation {
  /** The program of Node. */
  readonly node: string;
  /** The file of the gateway. */
  readonly main: string;
  /** The file of the commands. */
  readonly till: string;
  readonly folder: string;
}

/** The sources of this project, with the commands run in another folder. */
export function ownInstallation(folder: string): Installation {
  return { node: process.execPath, main: programFile('main'), till: join(ROOT, 'src/cli/till.ts'), folder };
}

/** A gateway of an installation, in its folder. */
export function startInstalled({ node, main, folder }: Installation): Promise<NodeProcess> {
  return startProcess([node, main], { TILL_HOME: join(folder, '.till') }, { cwd: folder });
}

/** A command of an operator in a separate process, in the folder of an installation. */
export async function runInstalled({ node, till, folder }: Installation, argv: readonly string[]): Promise<Ran> {
  const child = spawn(node, [till, ...argv], {
    cwd: folder,
    env: { ...inherited(), TILL_HOME: join(folder, '.till') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ]);
  return { exitCode, stdout, stderr };
}

/** A gateway with crash points, and a channel to choose one. */
export function startCrashNode(settings: Settings): Promise<NodeProcess> {
  return startProcess([process.execPath, programFile('crash-node')], settings, {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
}

/** A gateway under npm, which leads its own process group, as in a terminal. */
export function startByNpm(settings: Settings): Promise<NodeProcess> {
  // npm would ask its registry for a newer version of itself.
  return startProcess(['npm', 'start'], { npm_config_update_notifier: 'false', ...settings }, { detached: true });
}

async function startProcess(
  [command = '', ...args]: readonly string[],
  settings: Settings,
  options: Pick<SpawnOptions, 'cwd' | 'detached' | 'stdio'>,
): Promise<NodeProcess> {
  const port = settings.PORT === undefined ? await findPort(systemWorld.random) : Number(settings.PORT);
  const child: ChildProcess = spawn(command, args, {
    cwd: ROOT,
    // A machine that runs tests is late all the time, which is no overload of the gateway.
    env: { ...inherited(), PORT: String(port), METRICS_PORT: '0', MAX_EVENT_LOOP_DELAY_MS: '0', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes) => (output += bytes));
  let isOver = false;
  const ended = once(child, 'close').then(([code, signal]) => {
    isOver = true;
    return (code ?? signal) as number | NodeJS.Signals | null;
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  const hasStarted = () => output.includes('curl ');
  const takesRequests = (isComplete: () => boolean) =>
    until(
      'the node is ready',
      async () => {
        if (isOver) throw new Error(`The node ended before it was ready: ${output}`);
        const answer = await fetch(`${baseUrl}/ready`).catch(() => undefined);
        return answer?.status === 200 && isComplete();
      },
      { withinMs: 90_000 },
    ).catch((error: Error) => {
      throw new Error(`${error.message} Its last words: ${output.slice(-LAST_WORDS)}`);
    });
  return {
    baseUrl,
    pid: child.pid ?? 0,
    output: () => output,
    ended,
    isOver: () => isOver,
    hasStarted,
    signal: (name) => void child.kill(name),
    send: (message) => void child.send(message),
    signalGroup: (name) => {
      try {
        process.kill(-(child.pid ?? 0), name);
      } catch (error) {
        // Every process of the group has ended.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    },
    takesRequests: () => takesRequests(() => true),
    async ready() {
      await takesRequests(hasStarted);
      return JSON.parse(await readFile(join(settings.TILL_HOME, 'sandbox.json'), 'utf8'));
    },
  };
}

/** The environment that a program needs. Compiled code is shared by all processes of a test run. */
function inherited(): Record<string, string | undefined> {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  return { PATH, HOME, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };
}
