import { mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Logger, pino } from 'pino';
import { redactApiKeys } from '../domain/api-key.ts';

const MAX_FILE_BYTES = 16 * 1024 * 1024;

interface LogInput {
  readonly level: string;
  readonly secrets: readonly string[];
  /** If set, lines go to this file, and standard output gets only warnings and errors. */
  readonly file?: string | undefined;
  /** Replaces standard output. */
  readonly sink?: { write(line: string): unknown };
}

/** Structured logs, one JSON object on each line. Secrets are masked last, in the finished line. */
export function createLog({ level, secrets, file, sink }: LogInput): Logger {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: (line: string) => strikeSecrets(line, secrets) },
  };
  if (sink !== undefined) return pino(options, { write: (line: string) => void sink.write(line) });
  if (file === undefined) return pino(options);
  rotate(file);
  const streams = pino.multistream([
    { level: level as 'info', stream: pino.destination({ dest: file, append: true, mode: 0o600, sync: false }) },
    { level: 'warn', stream: process.stdout },
  ]);
  return pino(options, streams);
}

/** Masks the secrets and everything that looks like an API key. */
export function strikeSecrets(text: string, secrets: readonly string[]): string {
  let clean = text.includes('till_') ? redactApiKeys(text) : text;
  for (const secret of secrets) if (secret !== '' && clean.includes(secret)) clean = clean.replaceAll(secret, '***');
  return clean;
}

/** Renames a large log file to `.1`, and replaces the previous `.1`, so that the logs of a sandbox do not fill the disk. */
function rotate(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > MAX_FILE_BYTES) renameSync(file, `${file}.1`);
}
