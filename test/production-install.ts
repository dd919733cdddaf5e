import { execFileSync } from 'node:child_process';
import { constants, existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Installation } from './node-process.ts';

const ROOT = join(import.meta.dirname, '..');
/** The pages of a build, which an install for production takes along. */
const PAGES = 'web/dist';
const NODE = 'node_modules/.bin/node';

interface LockedPackage {
  readonly dev?: true;
  readonly link?: true;
}

/** The packages that `npm ci --omit=dev` installs on this machine, as paths: they are copied, so that no registry is needed. */
export async function productionPackages(): Promise<string[]> {
  const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  return Object.entries(packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link)
    .map(([path]) => path)
    .filter((path) => existsSync(join(ROOT, path)));
}

/** A clone of the project with its packages for production and the pages of a build, and nothing else. */
export async function installProduction(tree: string, folder: string): Promise<Installation> {
  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  const files = tracked.filter((name) => name !== '' && existsSync(join(ROOT, name)));
  for (const name of [...files, PAGES, ...(await productionPackages())]) await copy(name, tree);
  const hasNode = existsSync(join(ROOT, NODE));
  if (hasNode) await copy(NODE, tree);
  const node = hasNode ? join(tree, NODE) : process.execPath;
  return { node, main: join(tree, 'src/main.ts'), till: join(tree, 'src/cli/till.ts'), folder };
}

async function copy(name: string, tree: string): Promise<void> {
  await mkdir(dirname(join(tree, name)), { recursive: true });
  await cp(join(ROOT, name), join(tree, name), {
    recursive: true,
    verbatimSymlinks: true,
    mode: constants.COPYFILE_FICLONE,
    // Packages inside of packages are named by themselves.
    filter: (path) => basename(path) !== 'node_modules',
  });
}

/** The space that a package takes on the disk in bytes, without the packages inside of it. */
export async function sizeOfPackage(path: string): Promise<number> {
  const entries = await readdir(join(ROOT, path), { withFileTypes: true });
  const sizes = entries.map(async (entry) => {
    const name = join(path, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? 0 : sizeOfPackage(name);
    return (await stat(join(ROOT, name))).blocks * 512;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
