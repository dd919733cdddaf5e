import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { NamedMutant } from './named-mutants.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Folders that a copy has by reference: no test changes them. */
const SHARED = ['node_modules', 'web', 'docs'];
const LEFT_OUT = ['.git', ...SHARED];
/** Some changes make the gateway wait for ever. */
const TIMEOUT_MS = 240_000;

interface Copy {
  /** True if the named test fails with the change. Without it, the test must pass. */
  isNoticed(mutant: NamedMutant): Promise<boolean>;
}

/** Copies of the project whose source can be changed, one for each mutant that is tried at once. */
export interface Copies {
  open(): Copy;
  close(): void;
}

/** The tests use the server of `global-setup.ts`, which must run. */
export function openCopies(mutants: readonly NamedMutant[]): Copies {
  const folders: string[] = [];
  /** The tests of each file that fail without a change. */
  const broken = new Map<string, Promise<readonly string[]>>();

  /** Tries all tests of the file that mutants name, in one process. */
  function brokenIn(folder: string, test: string): Promise<readonly string[]> {
    const titles = [...new Set(mutants.filter((each) => each.test === test).map(({ title }) => title))];
    const found = broken.get(test) ?? failing(folder, { test, titles, hasOwnServer: false });
    broken.set(test, found);
    return found;
  }

  return {
    open() {
      const folder = copyProject();
      folders.push(folder);
      return {
        async isNoticed({ file, from, to, test, title }) {
          const path = join(folder, file);
          const source = readFileSync(path, 'utf8');
          if (source.split(from).length !== 2) throw new Error(`${file} does not contain this once: ${from}`);
          if ((await brokenIn(folder, test)).includes(title)) {
            throw new Error(`${test} "${title}" fails without a change, too.`);
          }
          writeFileSync(
            path,
            source.replace(from, () => to),
          );
          // The databases of the running server were migrated without the change.
          const hasOwnServer = file.startsWith('migrations/');
          const noticing = await failing(folder, { test, titles: [title], hasOwnServer });
          writeFileSync(path, source);
          return noticing.includes(title);
        },
      };
    },
    close() {
      for (const folder of folders) rmSync(folder, { recursive: true });
    },
  };
}

function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'till-mutants-'));
  for (const name of readdirSync(ROOT)) {
    if (SHARED.includes(name)) symlinkSync(join(ROOT, name), join(folder, name));
    else if (!LEFT_OUT.includes(name)) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  return folder;
}

/** Runs these tests alone. Returns the titles of those that fail. */
async function failing(
  folder: string,
  { test, titles, hasOwnServer }: { test: string; titles: readonly string[]; hasOwnServer: boolean },
): Promise<readonly string[]> {
  const patterns = titles.map((title) => `--test-name-pattern=${title.replace(/[^\w ]/g, '.')}`);
  const setup = hasOwnServer ? ['--test-global-setup=test/global-setup.ts'] : [];
  const options = ['--test', '--test-reporter=spec', `--test-timeout=${TIMEOUT_MS}`, ...setup, ...patterns];
  // The source is compiled once for each copy, and not at each start.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, '.compiled'), NODE_TEST_CONTEXT: undefined };
  const child = spawn(process.execPath, [...options, test], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  const lost = titles.find((title) => !output.includes(` ${title}`));
  if (lost !== undefined) throw new Error(`${test} has no test "${lost}", or did not run.`);
  return titles.filter((title) => output.includes(`✖ ${title}`));
}
