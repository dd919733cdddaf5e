import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');

export interface BuiltSdk {
  /** The package as npm would publish it. */
  readonly folder: string;
  readonly dist: string;
  /** Makes the package known to programs in the folder. */
  linkInto(folder: string): Promise<void>;
}

/** The client library, built from its sources as they are now. */
export async function buildSdk(): Promise<BuiltSdk> {
  const folder = await mkdtemp(join(tmpdir(), 'till-sdk-'));
  const dist = join(folder, 'dist');
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  // As `npm run build` does: the documentation is in the types alone.
  for (const parts of [['--declaration', 'false', '--removeComments'], ['--emitDeclarationOnly']]) {
    await promisify(execFile)(process.execPath, [tsc, '-p', join(ROOT, 'sdk'), '--outDir', dist, ...parts]);
  }
  await copyFile(join(ROOT, 'sdk/package.json'), join(folder, 'package.json'));
  return {
    folder,
    dist,
    async linkInto(target) {
      await mkdir(join(target, 'node_modules/@till'), { recursive: true });
      await symlink(folder, join(target, 'node_modules/@till/sdk'));
    },
  };
}
