import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bundleNodes } from './bundled-nodes.ts';
import { globalSetup, globalTeardown } from './global-setup.ts';
import { IS_LONG } from './long.ts';
import { takeProcessorMs } from './processor-time.ts';

/**
 * Runs all test files, or those named as arguments. Files share a process in groups: loading the gateway takes more
 * processor time than most files need for their tests (8 files with 126 tests: 13 s in one process, 28 s in eight).
 */
const FILES = '{src,test,scripts,web/src}/**/*.test.ts';
const FILES_PER_GROUP = 30;
/**
 * Groups that run at once: each waits at times, for a database, a chain or a browser. More than the fewest begin only
 * while a part of the processor time is unused, because groups that compete take more of it (46 files: 142 s in two
 * groups at once, 176 s in six). All share one PostgreSQL, whose connections are limited.
 */
const MOST_AT_ONCE = Math.min(3 * availableParallelism(), 12);
const FEWEST_AT_ONCE = Math.min(availableParallelism() + 1, MOST_AT_ONCE);
const START_EVERY_MS = 2_000;
const UNUSED_SHARE = 0.06;
const RUN_GROUP = join(import.meta.dirname, 'run-group.ts');
/** A group of rare cases takes ten minutes on an idle machine, and three times as long on a busy one. */
const GROUP_TIMEOUT_MS = IS_LONG ? 1_800_000 : 900_000;

/**
 * Files that are no part of the usual groups: they start many processes or a browser, replace globals, or have a hook
 * outside of any `describe` that runs for each test. Files of one line share a process.
 */
const OWN_GROUPS: readonly RegExp[] = [
  /^test\/crash\/crash-points\./,
  /^test\/browser\/(checkout|paying|surviving)\./,
  /^test\/browser\//,
  /^test\/(simulation\/|attacks\/(hostile-|fuzz-routes\.))/,
  /^(test\/(e2e\/(nodes|guides|drain|trigger|npm-start|own-network|from-empty-server|wallet-sdk)\.|wallet-sdk\/)|src\/sandbox\/(chain-process|embedded-postgres)\.)/,
  /^web\/src\/checkout\/checkout\./,
  /^web\/src\/checkout\/refund\/signing\./,
  /^web\/src\/checkout\/wallets\./,
];

/** A file of each group that takes longest. These groups start first, so that no core is idle at the end. */
const LONGEST: readonly RegExp[] = [
  ...(IS_LONG
    ? [
        /^test\/attacks\/fuzz-routes\./,
        /^test\/simulation\/simulation\./,
        /^test\/e2e\/(refunds|payment-lists|deposits)\.property\./,
        /^test\/e2e\/bad-input\./,
        /^src\/store\/payments\/payments\./,
      ]
    : []),
  /^test\/e2e\/upgrade(-deposits)?\./,
  /^test\/crash\/crash-points\./,
  /^test\/attacks\/authorisation-matrix\./,
  /^test\/e2e\/refunds\./,
  /^test\/e2e\/books-reconcile\./,
  /^test\/e2e\/idempotency\./,
  /^test\/browser\/dashboard\./,
  /^test\/browser\/checkout\./,
  /^src\/store\/payments\/payment-lists\./,
];

/** The numbers of a run that the runner reports. */
const COUNTED = ['tests', 'pass', 'fail', 'cancelled', 'skipped'] as const;

/** Groups in the table of processor times; `--times` prints all. */
const DEAREST = 10;

interface Outcome {
  readonly files: readonly string[];
  readonly output: string;
  readonly hasPassed: boolean;
  readonly ms: number;
  readonly processorMs: number;
}

const waiting: string[][] = [];
const running = new Set<ChildProcess>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    waiting.length = 0;
    for (const child of running) child.kill('SIGKILL');
    void globalTeardown().finally(() => process.exit(1));
  });
}
const { values, positionals } = parseArgs({
  options: { times: { type: 'boolean' }, shard: { type: 'string' } },
  allowPositionals: true,
});
const isLongFile = longFiles(values.shard);
process.exitCode = await main(positionals);

async function main(named: readonly string[]): Promise<number> {
  const files = named.length > 0 ? [...named] : globSync(FILES);
  waiting.push(...groupsOf(files.sort()));
  const outcomes: Outcome[] = [];
  const startedAtMs = Date.now();
  // A few files start too few nodes for bundles.
  await Promise.all([globalSetup(), named.length === 0 && bundleNodes()]);
  const setupMs = takeProcessorMs();
  try {
    const begun = new Set<Promise<void>>();
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
      const ended = runGroup(group).then((outcome) => {
        outcomes.push(outcome);
        process.stdout.write(outcome.output);
        begun.delete(ended);
      });
      begun.add(ended);
      await roomIn(begun);
    }
    await Promise.all(begun);
  } finally {
    await globalTeardown();
  }
  process.stdout.write(timesOf(outcomes, setupMs + takeProcessorMs()) + summaryOf(outcomes, Date.now() - startedAtMs));
  return outcomes.every(({ hasPassed }) => hasPassed) ? 0 : 1;
}

/** Waits until another group may begin. */
async function roomIn(begun: ReadonlySet<Promise<void>>): Promise<void> {
  while (begun.size >= FEWEST_AT_ONCE) {
    const unused = unusedShare();
    const over = new AbortController();
    const waited = pause(START_EVERY_MS, true, { signal: over.signal }).catch(() => false);
    const hasWaited = await Promise.race([waited, ...begun]);
    over.abort();
    if (hasWaited && begun.size < MOST_AT_ONCE && unused() > UNUSED_SHARE) return;
  }
}

/** Measures the share of all processor time that nobody uses, from now on. */
function unusedShare(): () => number {
  const sums = () => {
    const times = cpus().map((processor) => processor.times);
    const idle = times.reduce((sum, time) => sum + time.idle, 0);
    return { idle, all: times.reduce((sum, time) => sum + time.idle + time.user + time.nice + time.sys + time.irq, 0) };
  };
  const start = sums();
  return () => {
    const now = sums();
    return (now.idle - start.idle) / Math.max(1, now.all - start.all);
  };
}

/**
 * Chooses the files whose rare cases run, too. Without a shard these are all files of the long run. `--shard <seed>/<parts>` of
 * the long run takes one file of so many, another choice for each seed.
 */
function longFiles(shard: string | undefined): (file: string) => boolean {
  if (!IS_LONG || shard === undefined) return () => IS_LONG;
  const [, seed, parts = ''] = /^(.+)\/([1-9]\d*)$/.exec(shard) ?? [];
  if (seed === undefined) throw new Error(`--shard ${shard} is not a seed, a slash and a number of parts.`);
  return (file) => createHash('sha256').update(`${seed} ${file}`).digest().readUInt32BE() % Number(parts) === 0;
}

function groupsOf(files: readonly string[]): string[][] {
  const [long, short] = [true, false].map((isLong) =>
    groupsOfKind(
      files.filter((file) => isLongFile(file) === isLong),
      isLong,
    ),
  );
  const groups = [...(long ?? []), ...(short ?? [])];
  const longest = LONGEST.flatMap((file) => groups.filter((group) => group.some((each) => file.test(each))));
  return [...new Set([...longest, ...groups])];
}

function groupsOfKind(files: readonly string[], isLong: boolean): string[][] {
  // Tests of the whole gateway take longer than those beside their source.
  const isWhole = (file: string) => file.startsWith('test/');
  const placeOf = (file: string) =>
    isLong && isWhole(file) ? -1 : OWN_GROUPS.findIndex((pattern) => pattern.test(file));
  const ownGroups = OWN_GROUPS.map((_, place) => files.filter((file) => placeOf(file) === place)).filter(
    (group) => group.length > 0,
  );
  const others = files.filter((file) => placeOf(file) < 0);
  return [
    // Some of these files take many minutes in the long run, and must not wait for each other.
    ...inGroups(others.filter(isWhole), isLong ? 1 : FILES_PER_GROUP),
    ...ownGroups,
    ...inGroups(
      others.filter((file) => !isWhole(file)),
      FILES_PER_GROUP,
    ),
  ];
}

function inGroups(files: readonly string[], size: number): string[][] {
  const groups: string[][] = [];
  for (let at = 0; at < files.length; at += size) groups.push(files.slice(at, at + size));
  return groups;
}

function runGroup(files: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      // A larger young generation is collected less often.
      ['--max-semi-space-size=64', RUN_GROUP, ...files],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: GROUP_TIMEOUT_MS,
        killSignal: 'SIGKILL',
        env: { ...process.env, TILL_TEST_LONG: files.some(isLongFile) ? '1' : undefined },
      },
    );
    running.add(child);
    const startedAtMs = Date.now();
    let processorMs = 0;
    child.once('exit', () => {
      processorMs = takeProcessorMs();
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.once('close', (code, signal) => {
      running.delete(child);
      const end = signal === null ? '' : `The process was ended by ${signal}: ${files.join(' ')}\n`;
      resolve({ files, output: output + end, hasPassed: code === 0, ms: Date.now() - startedAtMs, processorMs });
    });
  });
}

/** The processor time of the run, and its dearest groups. */
function timesOf(outcomes: readonly Outcome[], otherMs: number): string {
  const allMs = outcomes.reduce((sum, { processorMs }) => sum + processorMs, otherMs);
  const seconds = (ms: number) => (ms / 1000).toFixed(1).padStart(6);
  const rows = outcomes
    .toSorted((a, b) => b.processorMs - a.processorMs)
    .slice(0, values.times ? undefined : DEAREST)
    .map(({ files, ms, processorMs }) => `${seconds(processorMs)} ${seconds(ms)}  ${files.join(' ')}\n`);
  return (
    `\nProcessor time: ${seconds(allMs).trim()} s, of it the shared PostgreSQL ${seconds(otherMs).trim()} s.\n` +
    `The dearest groups (processor time and duration in seconds):\n${rows.join('')}`
  );
}

/** The numbers of all groups, and the failures of each, which would be hard to find further up. */
function summaryOf(outcomes: readonly Outcome[], ms: number): string {
  const count = (name: string, { output }: Outcome) =>
    Number(new RegExp(`^ℹ ${name} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
  const counts = COUNTED.map((name) => `${name} ${outcomes.reduce((sum, outcome) => sum + count(name, outcome), 0)}`);
  const failures = outcomes
    .filter(({ hasPassed }) => !hasPassed)
    .map(({ files, output }) => `\nFailed: ${files.join(' ')}\n${output.split('✖ failing tests:\n')[1] ?? output}`);
  return `${failures.join('')}\nAll files: ${counts.join(', ')}, in ${Math.round(ms / 1000)} s\n`;
}
