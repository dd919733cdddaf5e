import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';

/** The environment, extended by a file `.env` in the working folder. Variables that are set already win. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  if (existsSync('.env')) loadEnvFile('.env');
  return process.env;
}
