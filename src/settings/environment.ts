import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';

/** The file that `till init` writes. */
export const ENV_FILE = 'till.env';

/**
 * The environment, extended by the files `till.env` and `.env` of the working folder. Variables that are already set have precedence,
 * then those of `till.env`.
 */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  for (const file of [ENV_FILE, '.env']) if (existsSync(file)) loadEnvFile(file);
  return process.env;
}
