import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UpdateError } from './update-error.ts';

/** An update that is under way. It is written before the step that it names begins, and removed when no node waits for anything. */
export interface UpdateState {
  /** Folders of releases. */
  readonly from: string;
  readonly to: string;
  /** `back`: a node did not become ready, or the operator asked for it. */
  readonly direction: 'forward' | 'back';
  /** Why the update goes back. */
  readonly reason?: string;
  /** The file of the finished backup; empty if another program has made it. */
  readonly backup?: string;
  readonly isRehearsed?: true;
  readonly isMigrated?: true;
}

const FILE = 'update.json';

export async function readState(home: string): Promise<UpdateState | undefined> {
  const path = join(home, FILE);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as UpdateState;
  } catch {
    throw new UpdateError(
      `${path} is no whole JSON, so the update that is under way is not known. Let the links of all nodes lead to one release and restart them, then remove the file.`,
    );
  }
}

export function writeState(home: string, state: UpdateState): Promise<void> {
  return writeWhole(join(home, FILE), `${JSON.stringify(state, null, 2)}\n`);
}

export async function removeState(home: string): Promise<void> {
  await rm(join(home, FILE), { force: true });
  await syncFolder(home);
}

/** After a crash or a power cut the file is the old one or the new one, never a part. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const part = `${path}.part`;
  try {
    const file = await open(part, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    // The error of a write has no path.
    throw Object.assign(error as NodeJS.ErrnoException, { path });
  }
  await syncFolder(dirname(path));
}

export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
