import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type DebianProgram, missingProgram, programPath } from './debian-program.ts';

const PROMTOOL: DebianProgram = { names: ['promtool'], debianPackage: 'prometheus' };
const FOLDER = join(import.meta.dirname, '../deploy/observability');

export const missingPromtool = () => missingProgram(PROMTOOL);

/** Runs the tool beside the rules, and fails with its complaint. */
export function promtool(...args: readonly string[]): string {
  return execFileSync(programPath(PROMTOOL) ?? '', args, { cwd: FOLDER, encoding: 'utf8', stdio: 'pipe' });
}
