import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * Builds the pages and the client library after `npm ci`. An install for production (`--omit=dev`) has no compilers, so its
 * pages come from a build that was made before.
 */
const ROOT = join(import.meta.dirname, '..');
const PAGES = 'web/dist';

process.exitCode = prepare();

function prepare(): number {
  if (isInstalled('vite')) {
    return spawnSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
  }
  if (!existsSync(join(ROOT, PAGES))) {
    process.stderr.write(
      `The pages are not built, and this install has no compilers. Copy the folder ${PAGES} of a build of the same version, ` +
        'or run `npm ci` and then `npm prune --omit=dev`.\n',
    );
  }
  return 0;
}

function isInstalled(name: string): boolean {
  try {
    createRequire(join(ROOT, 'web/package.json')).resolve(name);
    return true;
  } catch {
    return false;
  }
}
