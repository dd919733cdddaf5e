import { builtInRegistry } from '../chains/registry.ts';
import { redactApiKeys } from '../domain/api-key.ts';
import { createLog, strikeSecrets } from '../runtime/log.ts';
import { programVersion } from '../runtime/own-package.ts';
import { systemWorld } from '../runtime/system-world.ts';
import type { Clock, World } from '../runtime/world.ts';
import { EnvironmentFileError, readEnvironment } from '../settings/environment.ts';
import { misspeltSettings } from '../settings/misspelt.ts';
import { readConfig } from '../settings/read-config.ts';
import { secretValues } from '../settings/secret-values.ts';
import type { Output } from './command.ts';
import { hasFlag, readCommandLine } from './command-line.ts';
import { ConfigurationError, describeFailure, type Failure } from './failure.ts';
import { helpFor } from './help.ts';
import { originOf } from './origin-of.ts';
import type { Terminal } from './terminal.ts';

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** The terminal for questions. Undefined if no person is there to answer. */
  readonly terminal?: Terminal;
  /** The world of tests, which has its own clock. Without it, database commands use the database's time. */
  readonly world?: World;
  /** The clock of this machine, which may be wrong. */
  readonly machineClock?: Clock;
  /** Returns a signal that Ctrl-C aborts, for commands that then end by themselves. */
  readonly untilInterrupted?: () => AbortSignal;
}

export interface Sink {
  write(text: string): unknown;
}

const REPEATED_WITHIN_MS = 1_000;

if (import.meta.main) await main();

/** Runs one operator command. Returns the exit code: 0 done, 1 refused or failed, 2 wrong usage or configuration, 3 a fault that `doctor` found. */
export async function runTill(argv: readonly string[], io: Io): Promise<number> {
  const isJson = hasFlag(argv, '--json');
  const secrets: string[] = [];
  const printError = (text: string) => void io.stderr.write(`${redactApiKeys(text)}\n`);
  try {
    const { json, text, note, exitCode = 0 } = await execute(argv, io, secrets);
    io.stdout.write(`${isJson ? JSON.stringify(json, null, 2) : text}\n`);
    if (note !== undefined) printError(isJson ? JSON.stringify({ note }) : note);
    return exitCode;
  } catch (error) {
    const failure = describeFailure(error);
    const text = isJson ? failureAsJson(failure) : failureAsText(failure);
    // Errors of other programs may contain a secret, so they are masked. Our own messages contain none, and masking would garble
    // them if a password is a common word such as "till".
    printError(failure.code === 'internal_error' ? strikeSecrets(text, secrets) : text);
    return failure.exitCode;
  }
}

async function execute(argv: readonly string[], io: Io, secrets: string[]): Promise<Output> {
  if (argv[0] === '--version') return { json: { version: programVersion() }, text: programVersion() };
  const world = io.world ?? { ...systemWorld, clock: io.machineClock ?? systemWorld.clock };
  const read = readConfig(io.env);
  // Help and problems of the command line are printed even if the settings are invalid.
  const registry = 'config' in read ? read.config.registry : builtInRegistry();
  const line = readCommandLine(argv, world.clock.nowMs(), registry);
  if ('help' in line) return { json: { help: helpFor(line.help) }, text: helpFor(line.help) };
  const misspelt = misspeltSettings(io.env);
  const readable = line.command.readsSettings === false && 'problems' in read ? readConfig({}) : read;
  if ('problems' in readable) throw new ConfigurationError([...readable.problems, ...misspelt]);
  const { config } = readable;
  secrets.push(...secretValues(config));
  // Warnings go to standard error, because standard output is for the result.
  const log = createLog({ level: 'warn', secrets, sink: io.stderr });
  for (const text of misspelt) log.warn(text);
  const isJson = hasFlag(argv, '--json');
  const print = (json: object, text: string) => void io.stdout.write(`${isJson ? JSON.stringify(json) : text}\n`);
  const { untilInterrupted = () => new AbortController().signal } = io;
  const run = {
    world,
    log,
    origin: originOf(io.env),
    environment: io.env,
    print,
    untilInterrupted,
    terminal: io.terminal,
  };
  const time = { followsDatabase: io.world === undefined, valuesAt: line.valuesAt };
  return line.command.run({ config, ...run, ...time }, line.values);
}

function failureAsJson({ code, message, problems }: Failure): string {
  const all = problems.length === 0 ? message : `${message}: ${problems.join('; ')}`;
  return JSON.stringify({ code, message: all, ...(problems.length > 0 && { problems }) });
}

function failureAsText({ exitCode, code, message, problems, advice }: Failure): string {
  const head = exitCode === 1 ? `${code}: ${message}` : problems.length > 0 ? `${message}:` : message;
  return [head, ...problems.map((problem) => `  ${problem}`), ...(advice === undefined ? [] : [advice])].join('\n');
}

function ownEnvironment(): Io['env'] {
  try {
    return readEnvironment();
  } catch (error) {
    if (!(error instanceof EnvironmentFileError)) throw error;
    process.stderr.write(`The configuration is invalid: ${error.message}\n`);
    process.exit(2);
  }
}

async function main(): Promise<void> {
  let interruption: AbortController | undefined;
  let interruptedAtMs = 0;
  const end = (code: number) => () => {
    const nowMs = systemWorld.clock.nowMs();
    // Under npm, Ctrl-C arrives twice at once, and the second signal is ignored. A later Ctrl-C ends a command that has not ended yet.
    if (interruption?.signal.aborted && nowMs - interruptedAtMs < REPEATED_WITHIN_MS) return;
    if (interruption === undefined || interruption.signal.aborted) process.exit(code);
    interruptedAtMs = nowMs;
    interruption.abort();
  };
  // Both signals end the process by `process.exit`. Its handlers stop a database server that was started for this command.
  // Uncommitted changes are rolled back.
  process.on('SIGINT', end(130));
  process.on('SIGTERM', end(143));
  // A reader of the output, such as `head`, may close the pipe early. That is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  process.exitCode = await runTill(process.argv.slice(2), {
    env: ownEnvironment(),
    stdout: process.stdout,
    stderr: process.stderr,
    // Questions go to standard error, because standard output is for the result.
    ...(process.stdin.isTTY && { terminal: { input: process.stdin, output: process.stderr } }),
    untilInterrupted: () => {
      interruption = new AbortController();
      return interruption.signal;
    },
  });
}
