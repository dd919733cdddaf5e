import { open, readFile, realpath, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ApiError } from '../../errors.ts';
import { unlessCode, unlinkIfThere } from '../../sandbox/whole-file.ts';

const MODE = 0o600;

/** The text of a file. Undefined if the file does not exist. */
export function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    const remedy = error.code === 'EISDIR' ? 'Name a file by --file' : 'Let this account read it';
    const message = `${path} cannot be read (${error.code}), and is as it was. ${remedy}, and run init again.`;
    throw new ApiError('invalid_state', message);
  });
}

/**
 * Replaces a file atomically: after a crash, it has its old text or the new one. Only the owner can read the file, and the owner
 * does not change.
 */
export async function writePrivateFile(named: string, text: string): Promise<void> {
  // The name may be a symbolic link to a file elsewhere. Then that file is replaced, and the link stays.
  const path = (await realpath(named).catch(unlessCode('ENOENT'))) ?? named;
  const before = await stat(path).catch(unlessCode('ENOENT'));
  const draft = `${path}.${process.pid}`;
  try {
    // An earlier process with the same process id may have left its draft when it was killed.
    await unlinkIfThere(draft);
    const file = await open(draft, 'wx', MODE);
    try {
      if (before !== undefined && before.uid !== process.getuid?.()) await file.chown(before.uid, before.gid);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncFolder(path);
  } catch (error) {
    await unlinkIfThere(draft).catch(() => {});
    throw refusalOf(error as NodeJS.ErrnoException, named);
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: 'Free space on its disk',
  EDQUOT: 'Free space on its disk',
  ENOENT: 'Make its folder',
  EROFS: 'Name a file on a disk that can be written, by --file',
};

function refusalOf({ code = 'unknown error' }: NodeJS.ErrnoException, path: string): ApiError {
  const remedy = REMEDIES[code] ?? 'Let this account write to its folder';
  const message = `${path} cannot be written (${code}), and is as it was. ${remedy}, and run init again.`;
  return new ApiError('invalid_state', message);
}

/** True if accounts that neither own the file nor belong to its group have any rights to it. */
export async function isOpenToOthers(path: string): Promise<boolean> {
  const found = await stat(path).catch(unlessCode('ENOENT'));
  return found !== undefined && (found.mode & 0o007) !== 0;
}

/** Flushes the folder of a file to disk. Without this flush, a new name of the file may be lost when the machine fails. */
async function syncFolder(file: string): Promise<void> {
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
