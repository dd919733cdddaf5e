import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';

/** The file that `till init` writes. */
export const ENV_FILE = 'till.env';

/**
 * An environment file exists but cannot be read. Often the operator's account wrote it, and the node runs under another account.
 */
export class EnvironmentFileError extends Error {
  override readonly name = 'EnvironmentFileError';
  constructor(file: string, { code = 'unknown error' }: NodeJS.ErrnoException) {
    super(`the file ${file} of this folder cannot be read (${code}). Let the account of this process read it.`);
  }
}

/**
 * The environment, extended by the files `till.env` and `.env` of the working folder. Variables that are already set have precedence,
 * then those of `till.env`.
 */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  for (const file of [ENV_FILE, '.env']) {
    if (!existsSync(file)) continue;
    try {
      loadEnvFile(file);
    } catch (error) {
      throw new EnvironmentFileError(file, error as NodeJS.ErrnoException);
    }
  }
  return process.env;
}
