import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MONEY_MUTANTS, type MoneyMutant } from './money-mutants.ts';

// Breaks the functions of money on purpose, one line at a time and in a copy, and runs their tests. Prints which tests notice each
// change. Ends with 1 if none does. Arguments choose the changes whose names contain one of them.

/** The tests that may notice a change. */
const TESTS = {
  cases: ['--test', 'src/domain/money/faults.test.ts', 'src/domain/money/owner.test.ts'],
  properties: ['--test', 'src/domain/money/properties.test.ts'],
  'small world': ['--test', 'test/money/small-world.test.ts'],
} as const;

const ROOT = join(import.meta.dirname, '../..');
const COPY = mkdtempSync(join(tmpdir(), 'till-money-'));
const TIMEOUT_MS = 300_000;

function copy(): void {
  symlinkSync(join(ROOT, 'node_modules'), join(COPY, 'node_modules'));
  for (const path of ['src/domain', 'test/money', 'test/simulation/seeded.ts', 'test/long.ts', 'package.json']) {
    cpSync(join(ROOT, path), join(COPY, path), { recursive: true });
  }
}

function hasPassed(args: readonly string[]): boolean {
  // The runner of tests names itself to its children, which would then run nothing.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  return spawnSync(process.execPath, args, { cwd: COPY, env, timeout: TIMEOUT_MS }).status === 0;
}

function noticedBy({ file, from, to }: MoneyMutant): string[] {
  const path = join(COPY, 'src/domain/money', file);
  const text = readFileSync(path, 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${file} does not contain this once: ${from}`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  const noticing = Object.entries(TESTS).filter(([, args]) => !hasPassed(args));
  writeFileSync(path, text);
  return noticing.map(([name]) => name);
}

copy();
for (const [name, args] of Object.entries(TESTS)) {
  if (!hasPassed(args)) throw new Error(`The ${name} fail without any change.`);
}
let unnoticed = 0;
process.stdout.write('| change | noticed by |\n|---|---|\n');
const texts = process.argv.slice(2);
const chosen = MONEY_MUTANTS.filter(({ name }) => texts.length === 0 || texts.some((text) => name.includes(text)));
for (const mutant of chosen) {
  const names = noticedBy(mutant);
  if (names.length === 0) unnoticed += 1;
  process.stdout.write(`| ${mutant.name} | ${names.length === 0 ? 'NOTHING' : names.join(', ')} |\n`);
}
process.stdout.write(`${chosen.length} changes, ${unnoticed} unnoticed\n`);
rmSync(COPY, { recursive: true });
process.exitCode = unnoticed === 0 ? 0 : 1;
