/** A refusal or failure that its message explains. */
export class UpdateError extends Error {}

const AGAIN = 'and run the update again: it goes on where it stopped.';

/** Faults of the machine, by the code of the system. */
const REMEDIES: Readonly<Record<string, string>> = {
  ENOSPC: `Free space on its disk, ${AGAIN}`,
  EDQUOT: `Free space on its disk, ${AGAIN}`,
  EACCES: `Give this account the right to it, ${AGAIN}`,
  EPERM: `Give this account the right to it, ${AGAIN}`,
  EROFS: `Let its disk be written, ${AGAIN}`,
  ENOENT: `Bring it back, ${AGAIN}`,
  ENOTDIR: `Name a folder by TILL_ROOT or --settings, ${AGAIN}`,
};

/** One line for the operator. Undefined for an error that nobody expected. */
export function failureLine(error: unknown): string | undefined {
  if (error instanceof UpdateError) return error.message;
  const { code = '', path = 'a file', message } = error as NodeJS.ErrnoException;
  const remedy = REMEDIES[code];
  return remedy === undefined ? undefined : `${path} cannot be used (${message}). ${remedy}`;
}
