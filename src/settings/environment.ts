import { existsSync } from 'node:fs';
import { loadEnvFile } from 'node:process';

/** The environment, extended by the file `.env` of the working folder. Variables that are already set have precedence. */
export function readEnvironment(): Readonly<Record<string, string | undefined>> {
  if (existsSync('.env')) loadEnvFile('.env');
  return process.env;
}
