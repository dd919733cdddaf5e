import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Stands for the start time of a process that runs, but whose start time cannot be read. */
export const UNKNOWN_START = 'unknown';

const PS_TIMEOUT_MS = 5_000;
const PS_MAX_BYTES = 16 * 1024 * 1024;

/**
 * The start time of a process in the operating system's format, or undefined if the process has ended. Process ids are reused,
 * above all in containers, where every start uses the same small numbers. So only id and start time together identify a process.
 * A zombie counts as ended, because the first process of a container often never reaps its orphans.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (process.platform !== 'linux') return processStartByPs(pid);
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // With hidepid, /proc shows only the user's own processes, so a missing file does not prove that the process has ended.
  if (stat === undefined) return processExists(pid) ? UNKNOWN_START : undefined;
  // The command name is the second field, in brackets, and may contain spaces and brackets.
  const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  return rest[18] ?? UNKNOWN_START;
}

/** The command line, with its words joined by spaces. Undefined if the process has ended or is hidden. */
export async function processCommand(pid: number): Promise<string | undefined> {
  if (process.platform !== 'linux') return ps('command=', '-p', String(pid));
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return words === '' ? undefined : words.replaceAll('\0', ' ');
}

export async function findProcesses(commandStart: string): Promise<number[]> {
  if (process.platform !== 'linux') {
    const lines = (await ps('pid=,command=', '-ax'))?.split('\n') ?? [];
    const processes = lines.map((line) => /^\s*(\d+) (.*)/.exec(line));
    return processes.filter((found) => found?.[2]?.startsWith(commandStart)).map((found) => Number(found?.[1]));
  }
  const pids = (await readdir('/proc')).map(Number).filter(Number.isSafeInteger);
  const commands = await Promise.all(pids.map(processCommand));
  return pids.filter((_, index) => commands[index]?.startsWith(commandStart));
}

/** True if the process id exists, even as a zombie. */
export function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function processStartByPs(pid: number): Promise<string | undefined> {
  const line = await ps('state=,lstart=', '-p', String(pid));
  if (line === undefined) return processExists(pid) ? UNKNOWN_START : undefined;
  const [state, ...start] = line.split(/\s+/);
  return state?.startsWith('Z') ? undefined : start.join(' ');
}

async function ps(columns: string, ...selection: string[]): Promise<string | undefined> {
  const options = { timeout: PS_TIMEOUT_MS, maxBuffer: PS_MAX_BYTES, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
  const run = promisify(execFile)('ps', ['-ww', '-o', columns, ...selection], options);
  return (await run.catch(() => undefined))?.stdout.trim() || undefined;
}
