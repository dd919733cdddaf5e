import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const APT_GET = '/usr/bin/apt-get';
const INSTALL_WITHIN_MS = 300_000;
/** A folder that an ordinary user's PATH may lack. */
const FURTHER_FOLDERS = ['/usr/sbin'];

export interface DebianProgram {
  /** The names that the program may have. */
  readonly names: readonly string[];
  /** The package that has it. */
  readonly debianPackage: string;
  /** The path of the program to prefer. */
  readonly override?: string | undefined;
}

const found = new Map<string, string | undefined>();

/** The path of a program; on a Debian machine it is installed if permitted. */
export function programPath(program: DebianProgram): string | undefined {
  const { debianPackage } = program;
  if (!found.has(debianPackage)) found.set(debianPackage, find(program) ?? install(program));
  return found.get(debianPackage);
}

/** The reason why tests with the program cannot run here. */
export function missingProgram(program: DebianProgram): string | false {
  if (programPath(program) !== undefined) return false;
  return `There is no ${program.names[0]} here. Install it: sudo apt-get ${argsOf(program).join(' ')}`;
}

function find({ names, override = '' }: DebianProgram): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...FURTHER_FOLDERS];
  const candidates = [override, ...names.flatMap((name) => folders.map((dir) => join(dir, name)))];
  return candidates.find((path) => path !== '' && isProgram(path));
}

function argsOf({ debianPackage }: DebianProgram): string[] {
  return ['install', '-y', '--no-install-recommends', debianPackage];
}

function install(program: DebianProgram): string | undefined {
  if (process.getuid?.() !== 0 || !isProgram(APT_GET)) return undefined;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  for (const step of [['update', '-q'], argsOf(program)]) {
    try {
      execFileSync(APT_GET, step, { env, stdio: 'ignore', timeout: INSTALL_WITHIN_MS });
    } catch {
      // Offline, or another system: the tests report the missing program.
      return undefined;
    }
  }
  return find(program);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
