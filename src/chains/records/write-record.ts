import { type FileHandle, link, open, readFile, realpath, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { NetworkFile, TokenFile } from './network-schema.ts';

/** The error if another process is writing the same file, or was killed while it wrote. */
export class DraftExistsError extends Error {
  readonly draft: string;
  constructor(draft: string) {
    super(`Another command writes that file at this moment. If none does, one was killed: remove ${draft}.`);
    this.name = 'DraftExistsError';
    this.draft = draft;
  }
}

/** The mode of a new file. All accounts can read it, because nodes run under other accounts than operators, and a record has no secret. */
const MODE = 0o644;

export function fileNameOf(chainId: string): string {
  return `${chainId.replace(':', '-')}.json`;
}

/** Creates the file of a record. False if the file exists: it is never replaced. */
export function createRecordFile(file: string, record: NetworkFile): Promise<boolean> {
  return withDraft(file, async (draft, handle) => {
    await writeWhole(handle, record, MODE);
    try {
      // Like O_EXCL, `link` fails if the file exists. Unlike a write to the file itself, it never shows readers a file half
      // written.
      await link(draft, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
    await syncFolder(file);
    return true;
  });
}

/**
 * Adds a token at the end of a file, and keeps everything else in it. `check` may throw: then nothing is written. The draft is a
 * lock, so two commands cannot lose the token of each other.
 */
export async function appendToken(
  named: string,
  token: TokenFile,
  check: (record: NetworkFile) => void,
): Promise<NetworkFile> {
  // If the name is a link to another file, that file is changed, and the link stays.
  const file = await realpath(named);
  return withDraft(file, async (draft, handle) => {
    const before = JSON.parse(await readFile(file, 'utf8')) as NetworkFile;
    const record = { ...before, tokens: [...before.tokens, token] };
    check(record);
    await writeWhole(handle, record, (await stat(file)).mode & 0o777);
    await rename(draft, file);
    await syncFolder(file);
    return record;
  });
}

/**
 * Runs a function with a new draft of the file. The loader never reads a draft, because it reads only files whose names end with
 * `.json`.
 */
async function withDraft<T>(file: string, work: (draft: string, handle: FileHandle) => Promise<T>): Promise<T> {
  const draft = `${file}.draft`;
  const handle = await open(draft, 'wx', MODE).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST' ? new DraftExistsError(draft) : error;
  });
  try {
    return await work(draft, handle);
  } finally {
    await handle.close();
    await unlink(draft).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

async function writeWhole(handle: FileHandle, record: NetworkFile, mode: number): Promise<void> {
  await handle.chmod(mode);
  await handle.writeFile(recordText(record));
  await handle.sync();
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

function recordText(record: NetworkFile): string {
  return `${JSON.stringify(record, null, 2)}\n`;
}
