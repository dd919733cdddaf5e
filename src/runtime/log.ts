import { mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Logger, pino } from 'pino';
import { redactApiKeys } from '../domain/api-key.ts';

const MAX_FILE_BYTES = 16 * 1024 * 1024;

interface LogInput {
  readonly level: string;
  /** Values that are masked in every line. */
  readonly secrets: readonly string[];
  /** With a file, standard output carries only warnings and worse. */
  readonly file?: string | undefined;
  /** The destination of lines in place of standard output. */
  readonly sink?: { write(line: string): unknown };
}

/** Structured logs, one JSON object a line. Masking secrets is the last step before a line is written. */
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

/** The text without the secrets and without anything that looks like an API key. */
export function strikeSecrets(text: string, secrets: readonly string[]): string {
  let clean = text.includes('till_') ? redactApiKeys(text) : text;
  for (const secret of secrets) if (secret !== '' && clean.includes(secret)) clean = clean.replaceAll(secret, '***');
  return clean;
}

/** Keeps the file and one older one: a sandbox left running for weeks does not fill the disk at its next starts. */
function rotate(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > MAX_FILE_BYTES) renameSync(file, `${file}.1`);
}
