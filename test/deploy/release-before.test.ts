import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { IS_LONG } from '../long.ts';
import { ITS_TESTS, RELEASE_BEFORE } from '../release-before.ts';

const ROOT = join(import.meta.dirname, '../..');
const ONE_WAY = /^\d{4}_one_way_/;
const WITHIN_MS = 15 * 60_000;

/** Undefined if the test can run. */
function obstacle(): string | undefined {
  if (!IS_LONG) return 'part of npm run test:long';
  const found = spawnSync('git', ['cat-file', '-e', `${RELEASE_BEFORE}^{commit}`], { cwd: ROOT });
  return found.status === 0 ? undefined : 'the history of the repository does not have the release before';
}

/** The source of that version, with today's migrations after its own. Returns the names of those that it does not know. */
function unpack(folder: string): string[] {
  const archive = execFileSync('git', ['archive', RELEASE_BEFORE], { cwd: ROOT, maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const known = new Set(readdirSync(join(folder, 'migrations')));
  const today = readdirSync(join(ROOT, 'migrations')).filter((name) => name.endsWith('.sql') && !known.has(name));
  for (const name of today) copyFileSync(join(ROOT, 'migrations', name), join(folder, 'migrations', name));
  return today;
}

describe('a node of the release before', { skip: obstacle() ?? false }, () => {
  it('goes on after the migrations of this version, unless one of them is one-way', (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'till-release-before-'));
    try {
      const today = unpack(folder);
      if (today.some((name) => ONE_WAY.test(name))) return test.skip('a migration of this version is one-way');
      const { NODE_TEST_CONTEXT: _, TILL_TEST_LONG: __, ...env } = process.env;
      const run = spawnSync(process.execPath, ['test/run.ts', ...ITS_TESTS], {
        cwd: folder,
        env,
        encoding: 'utf8',
        timeout: WITHIN_MS,
      });
      assert.equal(run.status, 0, run.stdout.split('\n').slice(-120).join('\n'));
      assert.match(run.stdout, /^ℹ pass [1-9]\d*$/m);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
