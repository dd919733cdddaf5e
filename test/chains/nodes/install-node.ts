import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type NodeName = 'hardhat' | 'anvil';

export interface InstalledNode {
  /** The folder that the node runs in. */
  readonly folder: string;
  readonly program: string;
}

const HERE = import.meta.dirname;
const CACHE = join(HERE, '../../../node_modules/.cache/chain-nodes');
/** Hardhat and its packages take 44 seconds from npm, and 12 from npm's cache. */
const INSTALL_WITHIN_MS = 100_000;
const PROGRAMS: Readonly<Record<NodeName, string>> = {
  hardhat: 'node_modules/hardhat/internal/cli/bootstrap.js',
  anvil: 'node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil',
};

/**
 * Installs a node by its lock file, into a folder that git ignores; later runs find it there. Neither is a dependency
 * of the project: Hardhat takes 292 MB, and Anvil exists for one platform only. A node that cannot be installed is a
 * failure if no test may be skipped. Otherwise its reason is returned in one sentence. On other platforms the variable
 * `ANVIL` names a program to use.
 */
export async function installNode(name: NodeName): Promise<InstalledNode | { readonly missing: string }> {
  if (name === 'anvil') {
    if (process.env.ANVIL !== undefined) return { folder: tmpdir(), program: process.env.ANVIL };
    if (!(process.platform === 'linux' && process.arch === 'x64')) {
      return { missing: 'Anvil is installed for Linux on x86_64 only. ANVIL can name the program.' };
    }
  }
  try {
    const folder = await installLocked(join(HERE, name), name);
    return { folder, program: join(folder, PROGRAMS[name]) };
  } catch (error) {
    if (process.env.CI !== undefined) throw error;
    return { missing: `${name} could not be installed from npm: ${(error as Error).message.split('\n')[0]}` };
  }
}

/** Installs the packages of a lock file that a folder has, into a folder that git ignores, and returns the latter. */
export async function installLocked(source: string, name: string): Promise<string> {
  const lock = await readFile(join(source, 'package-lock.json'));
  const folder = join(CACHE, `${name}-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`);
  if (await isThere(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  // Two runs may install at once. Each uses a temporary folder, and the first to finish renames it.
  const building = await mkdtemp(join(CACHE, `${name}-building-`));
  try {
    for (const file of ['package.json', 'package-lock.json']) {
      await copyFile(join(source, file), join(building, file));
    }
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    await promisify(execFile)('npm', ['ci', ...options], { cwd: building, timeout: INSTALL_WITHIN_MS });
    await rename(building, folder).catch(async (error: unknown) => {
      if (!(await isThere(folder))) throw error;
    });
    return folder;
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

async function isThere(folder: string): Promise<boolean> {
  return readFile(join(folder, 'package.json')).then(
    () => true,
    () => false,
  );
}
