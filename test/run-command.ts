import assert from 'node:assert/strict';
import { type Io, runTill } from '../src/cli/till.ts';

type Settings = Omit<Io, 'stdout' | 'stderr'>;

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs an operator command in this process, and keeps its output. */
export async function runCommand(argv: readonly string[], settings: Settings): Promise<Ran> {
  let stdout = '';
  let stderr = '';
  const exitCode = await runTill(argv, {
    ...settings,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
  });
  return { exitCode, stdout, stderr };
}

// biome-ignore lint/suspicious/noExplicitAny: output is read as a program outside would read it, without types.
type Json = any;

/** The answer of a command that must not fail. */
export async function jsonOf(argv: readonly string[], settings: Settings): Promise<Json> {
  const { exitCode, stdout, stderr } = await runCommand([...argv, '--json'], settings);
  assert.equal(exitCode, 0, `${argv.join(' ')}: ${stderr}`);
  return JSON.parse(stdout);
}
