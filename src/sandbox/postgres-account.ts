import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** The account that runs PostgreSQL if the gateway runs as root, because PostgreSQL refuses to run as root. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/**
 * How to start a PostgreSQL program: the command words before its path, such as `setpriv`, and the account to switch to if these
 * words do not switch.
 */
export interface Launcher {
  readonly prefix: readonly string[];
  readonly switchTo?: Account;
}

export interface ToolResult {
  readonly isOk: boolean;
  /** The program's output, and the reason if it failed. */
  readonly output: string;
}

// The gateway's own environment is not passed on: a PGPORT or PGDATA for another server must not reach this one.
const PROGRAM_ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' };
const TOOL_TIMEOUT_MS = 60_000;
const MAX_OUTPUT_CHARS = 4_000;

const WAY_OUT = 'or set DATABASE_URL to a PostgreSQL server of your own.';

/**
 * The account that runs PostgreSQL. Undefined for an ordinary user: PostgreSQL runs as the same user. Root gets the account
 * `postgres`, which is created if it is missing.
 */
export async function postgresAccount(name = 'postgres'): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const found = await findAccount(name);
  if (found) return found;
  const attempts = [
    ['useradd', '--system', '--no-create-home', '--shell', '/usr/sbin/nologin', name],
    ['adduser', '-S', '-D', '-H', '-s', '/sbin/nologin', name],
  ] as const;
  const failures: string[] = [];
  for (const [program, ...args] of attempts) {
    const result = await runTool({ prefix: [] }, program, args);
    // Another gateway may have created the account at the same moment, so check whether it exists now.
    const created = await findAccount(name);
    if (created) return created;
    failures.push(`${program}: ${result.output.split('\n')[0]}`);
  }
  throw new Error(
    `PostgreSQL does not run as root, and the account "${name}" could not be created (${failures.join('; ')}). ` +
      `Create it, or start the gateway as an ordinary user, ${WAY_OUT}`,
  );
}

/**
 * Finds by trial a launcher that lets the account reach the programs and the folder. Checking permission bits would miss access
 * lists and restrictions of a container. A trial run of the real program takes a few milliseconds and covers everything.
 */
export async function chooseLauncher(input: {
  readonly account: Account | undefined;
  readonly postgres: string;
  readonly dir: string;
}): Promise<Launcher> {
  const failures: string[] = [];
  for (const launcher of launcherCandidates(input.account)) {
    // The shell enters the folder after the switch to the account, so that the account's rights are tested and not root's.
    const script = 'cd "$1" && exec "$2" --version';
    const result = await runTool(launcher, '/bin/sh', ['-c', script, 'sh', input.dir, input.postgres]);
    if (result.isOk) return launcher;
    failures.push(result.output);
  }
  const reasons = [...new Set(failures)].join('; ');
  if (!input.account) {
    throw new Error(
      `The PostgreSQL that comes with the gateway does not run on this machine: ${reasons}. ` +
        `Install the packages again with their install scripts (npm ci), ${WAY_OUT}`,
    );
  }
  throw new Error(
    `PostgreSQL does not run as root, and user id ${input.account.uid} cannot use ${input.postgres} with ${input.dir}: ` +
      `${reasons}. Put the gateway and TILL_HOME in folders which that user may enter, install setpriv (util-linux), ` +
      `start the gateway as an ordinary user, ${WAY_OUT}`,
  );
}

/**
 * The launchers in order of preference. With `--pdeathsig` the kernel stops PostgreSQL when the gateway is killed, so setpriv
 * comes first. Root's home folder, where many people clone the repository, is closed to other accounts. There PostgreSQL gets a
 * capability that gives it access: `dac_read_search` if the container grants it, else the broader `dac_override`. The securebit
 * `no_setuid_fixup` is set, because PostgreSQL calls access(2) for its own program file, and without the securebit access(2)
 * ignores the capabilities of an ordinary user.
 */
function launcherCandidates(account: Account | undefined): Launcher[] {
  const setpriv = ['setpriv', '--pdeathsig', 'INT'];
  const isLinux = process.platform === 'linux';
  if (!account) return isLinux ? [{ prefix: setpriv }, { prefix: [] }] : [{ prefix: [] }];
  const plain = { prefix: [], switchTo: account };
  if (!isLinux) return [plain];
  const switching = [...setpriv, '--reuid', `${account.uid}`, '--regid', `${account.gid}`, '--clear-groups'];
  const withCapability = (capability: string) => ({
    prefix: [
      ...switching,
      '--securebits=+no_setuid_fixup',
      `--inh-caps=+${capability}`,
      `--ambient-caps=+${capability}`,
    ],
  });
  return [{ prefix: switching }, withCapability('dac_read_search'), withCapability('dac_override'), plain];
}

/** Starts a program in its own session, so that Ctrl-C reaches only the gateway, which stops PostgreSQL after its own work. */
export function spawnAs(launcher: Launcher, program: string, args: readonly string[], options: SpawnOptions) {
  const [file = program, ...rest] = [...launcher.prefix, program, ...args];
  // The programs run in the root folder, because every account may enter it.
  return spawn(file, rest, { ...options, cwd: '/', env: PROGRAM_ENV, detached: true, ...launcher.switchTo });
}

/** Runs a program to its end, within a minute. */
export async function runTool(
  launcher: Launcher,
  program: string,
  args: readonly string[],
  stdin = '',
): Promise<ToolResult> {
  const child = trySpawn(() => spawnAs(launcher, program, args, { timeout: TOOL_TIMEOUT_MS, killSignal: 'SIGKILL' }));
  if (typeof child === 'string') return { isOk: false, output: child };
  const ended = processEnding(child);
  if (!child.stdin || !child.stdout || !child.stderr) return { isOk: false, output: await ended };
  // The program may end before it has read its input. Its exit code then shows the error.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  const [ending, out, err] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  const isOk = ending === 'exit code 0';
  const output = `${err}\n${out}`.trim().slice(-MAX_OUTPUT_CHARS);
  return { isOk, output: isOk ? output : [output, ending].filter(Boolean).join(', ') };
}

/**
 * Starts a program, or returns the message of the error. Most failed starts are reported by an event, but a forbidden switch of the
 * account throws at once.
 */
function trySpawn(run: () => ChildProcess): ChildProcess | string {
  try {
    return run();
  } catch (error) {
    return (error as Error).message;
  }
}

/** Resolves with the reason when the process has ended. A program that could not be started counts as ended. */
export function processEnding(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
  });
}

async function findAccount(name: string): Promise<Account | undefined> {
  const [uid, gid] = await Promise.all([
    runTool({ prefix: [] }, 'id', ['-u', name]),
    runTool({ prefix: [] }, 'id', ['-g', name]),
  ]);
  if (!uid.isOk || !gid.isOk) return undefined;
  return { uid: Number(uid.output), gid: Number(gid.output) };
}
