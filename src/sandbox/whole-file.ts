import { link, open, unlink } from 'node:fs/promises';

/**
 * Creates the file with its text, readable by its owner only. Returns false if the file exists. Linking a finished file fails if
 * the file exists, as O_EXCL does, and no reader ever sees an empty file.
 */
export async function createWholeFile(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${process.pid}`;
  // An earlier process with the same process id may have left its draft when it was killed.
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

/** A handler that turns the error with this code into undefined, and throws every other error. */
export function unlessCode(code: string): (error: NodeJS.ErrnoException) => undefined {
  return (error) => {
    if (error.code !== code) throw error;
  };
}
