import { cp, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The files of a release beside its packages: all that the gateway and the commands read. */
const FILES = [
  'CHANGELOG.md',
  'LICENSE',
  'contracts/artifacts',
  'docs/verify-receipt.mjs',
  'migrations',
  'networks',
  'openapi.json',
  'package.json',
  'sdk/src',
  'src',
  'web/dist',
  'web/src',
];
/** Tests and their pictures and data. */
const OF_TESTS = /\.(test|fixture)\.ts$/;

/** Copies a release, without its packages, from a folder in which it was built. */
export async function copyRelease(source: string, target: string): Promise<void> {
  for (const name of FILES) {
    await mkdir(dirname(join(target, name)), { recursive: true });
    await cp(join(source, name), join(target, name), { recursive: true, filter: (path) => !OF_TESTS.test(path) });
  }
}

interface LockedPackage {
  readonly dev?: true;
  readonly link?: true;
}

/** Node loads none of these from a package: it refuses to run TypeScript there, and maps are for debuggers. */
const NEVER_LOADED = /\.(d\.ts|d\.mts|d\.cts|ts|mts|cts|tsx|map|md|markdown|flow|tsbuildinfo)$/i;
const LICENCE = /^(licen[cs]e|copying|notice)/i;
/** A second build for `require`, of packages that the gateway imports. */
const SECOND_BUILDS: Readonly<Record<string, string>> = { viem: '_cjs', ox: '_cjs', abitype: 'dist/cjs' };

/** Copies the packages that a release runs with, without the files in them that no program loads. */
export async function copyPackages(source: string, target: string): Promise<void> {
  const lock = JSON.parse(await readFile(join(source, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  for (const [path, { dev, link }] of Object.entries(lock.packages)) {
    const isRun = path.includes('node_modules/') && !dev && !link && !/\/node-linux-[^/]+$/.test(path);
    if (!isRun || !(await stat(join(source, path)).catch(() => undefined))) continue;
    const second = SECOND_BUILDS[path.replace(/^.*node_modules\//, '')];
    const left = second === undefined ? undefined : join(source, path, second);
    await mkdir(dirname(join(target, path)), { recursive: true });
    await cp(join(source, path), join(target, path), {
      recursive: true,
      // Packages inside of packages are named by themselves.
      filter: (file) =>
        basename(file) !== 'node_modules' &&
        file !== left &&
        (!NEVER_LOADED.test(file) || LICENCE.test(basename(file))),
    });
  }
  await removeEmptyFolders(join(target, 'node_modules'));
}

async function removeEmptyFolders(folder: string): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true });
  let isEmpty = true;
  for (const entry of entries) {
    const isGone = entry.isDirectory() && (await removeEmptyFolders(join(folder, entry.name)));
    isEmpty &&= isGone;
  }
  if (isEmpty) await rm(folder, { recursive: true });
  return isEmpty;
}
