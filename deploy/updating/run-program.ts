import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { UpdateError } from './update-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Characters of a program's complaint that explain its failure. */
const LAST_WORDS = 1_500;

/** The output of a program. A failure is an `UpdateError` with the last words of the program. */
export async function runProgram(
  program: string,
  args: readonly string[],
  environment: Environment = {},
  input = '',
): Promise<string> {
  const child = spawn(program, args, { env: { ...process.env, ...environment }, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = once(child, 'close').catch((error: NodeJS.ErrnoException) => {
    const missing = error.code === 'ENOENT';
    throw new UpdateError(missing ? `${program} is not installed here (Debian: postgresql-client).` : error.message);
  });
  const [out, complaint, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code === 0) return out;
  const words = (complaint || out).trim().slice(-LAST_WORDS);
  throw new UpdateError(`${program} ended with ${code ?? signal}: ${words}`);
}
