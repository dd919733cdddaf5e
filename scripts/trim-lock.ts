import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * npm installs a package of development for production too, if it is an optional peer of a package there: TypeScript and zod would
 * come with viem, for its types alone. This removes such peers from the lock file. npm then keeps the entry without them until it
 * replaces the package by another version.
 */
const LOCK = join(import.meta.dirname, '../package-lock.json');

interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly dev?: true;
  readonly devOptional?: true;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>;
}

if (import.meta.main) {
  const lock = JSON.parse(await readFile(LOCK, 'utf8')) as Lock;
  await writeFile(LOCK, `${JSON.stringify({ ...lock, packages: trimmed(lock.packages) }, null, 2)}\n`);
}

function trimmed(packages: Lock['packages']): Lock['packages'] {
  const unwanted = Object.keys(packages)
    .filter((path) => packages[path]?.devOptional)
    .map((path) => path.replace(/^.*node_modules\//, ''));
  const without = (locked: LockedPackage): LockedPackage => {
    const { peerDependencies = {}, peerDependenciesMeta = {}, ...rest } = locked;
    const isKept = ([name]: readonly [string, unknown]) =>
      !(unwanted.includes(name) && peerDependenciesMeta[name]?.optional);
    const peers = Object.entries(peerDependencies).filter(isKept);
    const meta = Object.entries(peerDependenciesMeta).filter(isKept);
    return {
      ...rest,
      ...(peers.length > 0 && { peerDependencies: Object.fromEntries(peers) }),
      ...(meta.length > 0 && { peerDependenciesMeta: Object.fromEntries(meta) }),
    };
  };
  return Object.fromEntries(
    Object.entries(packages).map(([path, locked]) => [path, locked.dev ? locked : without(locked)]),
  );
}
