import { link, open, unlink } from 'node:fs/promises';

/**
 * Creates the file with its text in it, for its owner alone, or returns false when it is there already. Linking a finished
 * file is as exclusive as O_EXCL, and nobody ever reads a file that is still empty.
 */
export async function createWholeFile(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${process.pid}`;
  // A process with this id may have been killed here earlier and left its draft.
  await unlinkIfThere(draft);
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    await link(draft, path);
    return true;
  } catch (error) {
    return unlessCode('EEXIST')(error as NodeJS.ErrnoException) ?? false;
  } finally {
    await file.close();
    await unlinkIfThere(draft);
  }
}

export const unlinkIfThere = (path: string) => unlink(path).catch(unlessCode('ENOENT'));

/** Turns the one expected failure into undefined, and passes on every other. */
export function unlessCode(code: string): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (error.code !== code) throw error;
  };
}
