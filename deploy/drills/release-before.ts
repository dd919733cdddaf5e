import { execFileSync } from 'node:child_process';
import { cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RELEASE_BEFORE } from '../../test/release-before.ts';

const ROOT = join(import.meta.dirname, '../..');
const MOST_BYTES = 500_000_000;

/** The commit that stands for the release before. Undefined without the history of the project. */
export function commitBefore(): string | undefined {
  try {
    git('cat-file', '-e', `${RELEASE_BEFORE}^{commit}`);
    return RELEASE_BEFORE;
  } catch {
    return undefined;
  }
}

export function missingBefore(): string | false {
  const commit = commitBefore();
  if (commit === undefined) return 'the history of the project (git) is not here';
  const [before, today] = [migrationsOf(commit), migrationsOf('HEAD')];
  const oneWay = today.slice(before.length).find((name) => name.includes('_one_way_'));
  return oneWay !== undefined && `no older version runs after the migration ${oneWay}`;
}

/** The sources of that commit with the pages of today, ready to be copied as a release. */
export async function writeBefore(commit: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const archive = execFileSync('git', ['archive', '--format=tar', commit], { cwd: ROOT, maxBuffer: MOST_BYTES });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  await cp(join(ROOT, 'web/dist'), join(folder, 'web/dist'), { recursive: true });
  const locks = await Promise.all([ROOT, folder].map((each) => readFile(join(each, 'package-lock.json'), 'utf8')));
  if (locks[0] === locks[1]) execFileSync('ln', ['-s', join(ROOT, 'node_modules'), join(folder, 'node_modules')]);
  else execFileSync('npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
}

function migrationsOf(commit: string): readonly string[] {
  return git('ls-tree', '--name-only', commit, 'migrations/').trim().split('\n');
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}
