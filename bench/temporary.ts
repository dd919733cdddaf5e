import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = new Set<string>();

/** A folder that is deleted at any end of the benchmark. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'till-bench-'));
  folders.add(folder);
  // PostgreSQL enters it with another account when root runs the benchmark.
  await chmod(folder, 0o711);
  return folder;
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  folders.delete(folder);
}

export async function removeAllFolders(): Promise<void> {
  await Promise.all([...folders].map(removeFolder));
}
