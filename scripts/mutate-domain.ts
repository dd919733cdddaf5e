import { type ChildProcess, fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, mutantsOf } from './domain-mutants.ts';
import { EQUIVALENT } from './equivalent-mutants.ts';
import type { Case, Verdict } from './mutant-judge.ts';

/**
 * Mutants of the rules in `src/domain`: each has one small fault, and the unit tests of that folder should notice it.
 *
 *     npm run mutate:domain -- [--file fees.ts] [--sample 200 --seed 3]
 *
 * Prints the survivors and a table. Ends with 1 if a survivor is not explained in `equivalent-mutants.ts`.
 */
const ROOT = join(import.meta.dirname, '..');
const AT_ONCE = 2;
/** A mutant with an endless loop is caught by it: its tests may take this long, and this many times as long as without a mutant. */
const LEAST_LIMIT_MS = 5_000;
const TIMES_AS_LONG = 4;
const LONGEST_FILE_MS = 60_000;
/** The modules of a mutant stay in memory, so its process is replaced after so many. */
const MUTANTS_PER_PROCESS = 150;

type Fate = 'caught' | 'endless' | 'survived' | 'explained' | 'no program';
type Judged = Mutant & { readonly fate: Fate };

const { values } = parseArgs({
  options: { file: { type: 'string', multiple: true }, sample: { type: 'string' }, seed: { type: 'string' } },
});
process.exitCode = await main();

async function main(): Promise<number> {
  const all = globSync(['src/domain/**/*.ts', 'test/money/*.ts'], { cwd: ROOT }).toSorted();
  const imports = new Map(all.map((file) => [file, importsOf(file)]));
  const chosen = all
    .filter((file) => file.startsWith('src/') && !file.endsWith('.test.ts'))
    .filter((file) => values.file === undefined || values.file.some((name) => file.endsWith(`/${name}`)));
  const mutants = chosen.flatMap((file) => mutantsOf(file, read(file)));
  const sample = inSample(mutants);
  print(`${sample.length} of ${mutants.length} mutants in ${chosen.length} files\n`);
  const tests = new Map(chosen.map((file) => [file, testsOf(file, imports)]));
  const usualMs = await timesOf([...new Set([...tests.values()].flat())]);
  const judged: Judged[] = [];
  const waiting = [...sample];
  const casesOf = (mutant: Mutant): Case => ({
    ...{ file: mutant.file, code: mutant.code, tests: tests.get(mutant.file) ?? [] },
  });
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      const judge = startJudge();
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const each = casesOf(mutant);
        const limitMs =
          LEAST_LIMIT_MS + TIMES_AS_LONG * each.tests.reduce((ms, test) => ms + (usualMs.get(test) ?? 0), 0);
        const verdict = await judge.run(each, limitMs);
        const fate = fateOf(mutant, verdict.is);
        judged.push({ ...mutant, fate });
        if (fate === 'survived')
          print(`${mutant.file}:${mutant.line} ${mutant.rule}\n  ${mutant.before}\n  ${mutant.after}`);
      }
      judge.end();
    }),
  );
  print(tableOf(judged));
  const stale = sample.length === mutants.length ? staleRows(judged, chosen) : [];
  for (const row of stale) print(`Explained, but caught or no mutant: ${row}`);
  return stale.length > 0 || judged.some(({ fate }) => fate === 'survived') ? 1 : 0;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** The files that a file imports. Types alone cannot carry a fault. */
function importsOf(file: string): string[] {
  return [...read(file).matchAll(/^(?:import|export) (?!type )[^'"]*?from '(\.[^']+)'/gm)].map(([, target = '']) =>
    join(dirname(file), target),
  );
}

/** The test files that import a file, themselves or through others: the one beside it first. */
function testsOf(file: string, imports: ReadonlyMap<string, readonly string[]>): string[] {
  const reaching = new Set([file]);
  for (let before = 0; before < reaching.size; ) {
    before = reaching.size;
    for (const [each, targets] of imports) if (targets.some((target) => reaching.has(target))) reaching.add(each);
  }
  const own = file.replace(/\.ts$/, '.test.ts');
  const isNear = (test: string) => Number(test !== own) + Number(imports.get(test)?.includes(file) !== true);
  return [...reaching].filter(isUnitTest).toSorted((a, b) => isNear(a) - isNear(b));
}

/** The searches of `test/money` take long, and are no tests of one rule. */
function isUnitTest(file: string): boolean {
  return file.startsWith('src/') && file.endsWith('.test.ts');
}

/** A seeded choice. The same seed and the same source give the same mutants. */
function inSample(mutants: readonly Mutant[]): Mutant[] {
  if (values.sample === undefined) return [...mutants];
  const rank = ({ file, after, line }: Mutant) =>
    createHash('sha256')
      .update(`${values.seed ?? 1}\n${file}\n${line}\n${after}`)
      .digest('hex');
  return mutants.toSorted((a, b) => rank(a).localeCompare(rank(b))).slice(0, Number(values.sample));
}

/** How long each test file takes without a mutant. */
async function timesOf(tests: readonly string[]): Promise<Map<string, number>> {
  const judge = startJudge();
  const times = new Map<string, number>();
  for (const test of tests) {
    const startedAtMs = performance.now();
    const verdict = await judge.run({ file: '', code: '', tests: [test] }, LONGEST_FILE_MS);
    if (verdict.is !== 'survived') throw new Error(`A test fails without a mutant: ${JSON.stringify(verdict)}`);
    times.set(test, performance.now() - startedAtMs);
  }
  judge.end();
  return times;
}

/** A process that judges mutants. It is replaced when it hangs, dies or has judged many. */
function startJudge() {
  let child: ChildProcess | undefined;
  let judged = 0;
  const end = () => {
    child?.kill('SIGKILL');
    child = undefined;
    judged = 0;
  };
  const run = (each: Case, limitMs: number) =>
    new Promise<Verdict | { readonly is: 'endless' }>((resolve) => {
      if (judged >= MUTANTS_PER_PROCESS) end();
      judged += 1;
      child ??= fork(join(import.meta.dirname, 'mutant-judge.ts'), {
        execArgv: ['--disable-warning=ExperimentalWarning', '--max-old-space-size=1024'],
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
      const running = child;
      const over = (verdict: Verdict | { readonly is: 'endless' }) => {
        clearTimeout(timer);
        running.removeAllListeners();
        if (verdict.is === 'endless') end();
        resolve(verdict);
      };
      const timer = setTimeout(() => over({ is: 'endless' }), limitMs);
      running.once('message', (verdict: Verdict) => over(verdict)).once('exit', () => over({ is: 'endless' }));
      running.send(each);
    });
  return { run, end };
}

function fateOf({ file, after }: Mutant, is: Exclude<Fate, 'explained'>): Fate {
  return is === 'survived' && EQUIVALENT[nameOf(file)]?.[after] !== undefined ? 'explained' : is;
}

function nameOf(file: string): string {
  return file.replace(/^src\/domain\//, '');
}

/** Explanations of mutants that do not exist or do not survive. */
function staleRows(judged: readonly Judged[], chosen: readonly string[]): string[] {
  const explained = new Set(
    judged.filter(({ fate }) => fate === 'explained').map(({ file, after }) => `${nameOf(file)}: ${after}`),
  );
  return Object.entries(EQUIVALENT)
    .filter(([file]) => chosen.includes(`src/domain/${file}`))
    .flatMap(([file, rows]) => Object.keys(rows).map((after) => `${file}: ${after}`))
    .filter((row) => !explained.has(row));
}

function tableOf(judged: readonly Judged[]): string {
  const files = [...new Set(judged.map(({ file }) => file))].toSorted();
  const row = (name: string, of: readonly Judged[]) => {
    const count = (...fates: readonly Fate[]) => of.filter(({ fate }) => fates.includes(fate)).length;
    const cells = [of.length - count('no program'), count('caught', 'endless'), count('explained'), count('survived')];
    return `| ${name} | ${cells.join(' | ')} |`;
  };
  return [
    '\n| file | mutants | caught | explained | survived |\n|---|---|---|---|---|',
    ...files.map((file) =>
      row(
        `\`${nameOf(file)}\``,
        judged.filter((each) => each.file === file),
      ),
    ),
    row('all', judged),
  ].join('\n');
}
