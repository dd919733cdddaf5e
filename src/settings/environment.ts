import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';

/** The environment, with what a file `.env` in the working folder adds to it; what is set already wins. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  if (existsSync('.env')) loadEnvFile('.env');
  return process.env;
}
