import { open, stat } from 'node:fs/promises';
import type { Log, World } from '../runtime/world.ts';
import { NO_SCREENING, type Screening } from './screening.ts';
import { parseScreeningList, type ScreeningList } from './screening-list.ts';

export interface FollowListDeps {
  readonly world: World;
  readonly log: Log;
  readonly path: string;
  /**
   * Called at every check of the list's file. `problem` is the reason why the file cannot be used, and names the list that stays in
   * force. Undefined if the file can be used.
   */
  readonly report: (problem: string | undefined) => Promise<void>;
}

export interface FollowedList extends Screening {
  stop(): Promise<void>;
}

const EVERY_MS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Reads the list, or throws a message for the operator: a gateway with screening does not start without its list. Later the file is
 * checked repeatedly, and a changed list comes into force once it can be read as a whole.
 */
export async function followScreeningList(deps: FollowListDeps): Promise<FollowedList> {
  const stop = new AbortController();
  const first = await readList(deps.path);
  const current = { list: first.list, trace: first.trace };
  const loop = follow(deps, current, stop.signal);
  return {
    decide: (accounts) => current.list.decide(accounts),
    async stop() {
      stop.abort();
      await loop;
    },
  };
}

/** Reads the list once, for a command. Throws as `followScreeningList` does. */
export async function readScreening(path: string | undefined): Promise<Screening> {
  return path === undefined ? NO_SCREENING : (await readList(path)).list;
}

export class ScreeningListError extends Error {
  constructor(problem: string, path: string) {
    super(`The screening list ${problem} (${path}).`);
    this.name = 'ScreeningListError';
  }
}

interface Current {
  list: ScreeningList;
  /** Inode, size and times of the file that was read, to notice a changed file. */
  trace: string;
}

async function follow(deps: FollowListDeps, current: Current, stop: AbortSignal): Promise<void> {
  const { world, log } = deps;
  while (!stop.aborted) {
    await world.timers.sleep(EVERY_MS, stop);
    if (stop.aborted) return;
    const problem = await renew(deps, current);
    await deps.report(problem && `${problem} The list in force is ${nameOf(current.list)}.`).catch((error: unknown) => {
      log.warn({ err: error }, 'the state of the screening list could not be reported');
    });
  }
}

/** Reads the file if it has changed. Returns the reason if the file cannot be used. */
async function renew({ path, log }: FollowListDeps, current: Current): Promise<string | undefined> {
  try {
    if (traceOf(await stat(path)) === current.trace) return undefined;
    Object.assign(current, await readList(path));
    log.info({ list: current.list.identity }, 'new screening list in force');
    return undefined;
  } catch (error) {
    return (error instanceof ScreeningListError ? error : unreadable(error, path)).message;
  }
}

async function readList(path: string): Promise<Current> {
  try {
    // The file is checked and read through one handle, so that the trace belongs to the file that was read.
    await using file = await open(path);
    const found = await file.stat();
    if (!found.isFile()) throw new ScreeningListError('is not a file', path);
    if (found.size > MAX_BYTES) throw new ScreeningListError('is longer than 64 MiB', path);
    const list = parseScreeningList(await file.readFile());
    if (!list.ok) throw new ScreeningListError(list.problem, path);
    return { list: list.value, trace: traceOf(found) };
  } catch (error) {
    throw error instanceof ScreeningListError ? error : unreadable(error, path);
  }
}

interface FileState {
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}

function traceOf({ ino, size, mtimeMs, ctimeMs }: FileState): string {
  return [ino, size, mtimeMs, ctimeMs].join(' ');
}

function unreadable(error: unknown, path: string): ScreeningListError {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  return new ScreeningListError(code === 'ENOENT' ? 'does not exist' : `cannot be read: ${code}`, path);
}

function nameOf({ identity }: ScreeningList): string {
  return `${identity.version} of ${identity.date}`;
}
