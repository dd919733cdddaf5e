import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemWorld } from '../runtime/system-world.ts';
import type { Timers } from '../runtime/world.ts';
import { processStart, UNKNOWN_START } from './os-process.ts';
import { createWholeFile, unlessCode, unlinkIfThere } from './whole-file.ts';

const LOCK_FILE = 'gateway.lock';

// The most attempts to take a lock. An attempt takes the lock, finds a live holder, or fails because another gateway starts at the
// same moment. With the pauses, the other gateways have two seconds to finish.
const MAX_TRIES = 100;
const PAUSE_MS = 20;
// The attempts after which a mark (see `removeStale`) counts as left by a killed process. Removing a dead gateway's lock takes far fewer.
const MARK_ABANDONED_AFTER_TRIES = 25;

interface Holder {
  readonly pid: number;
  /** The start time of the process. Process ids are reused: only id and start time together identify the holder. */
  readonly startedAt: string;
}

export class HomeInUseError extends Error {
  readonly homeDir: string;
  readonly pid: number;

  constructor(homeDir: string, pid: number) {
    super(
      `The folder ${homeDir} is in use by another gateway (process ${pid}). ` +
        'Stop that gateway first, or set TILL_HOME to another folder for this one.',
    );
    this.name = 'HomeInUseError';
    this.homeDir = homeDir;
    this.pid = pid;
  }
}

/**
 * Locks a home folder for one gateway, and returns the function that unlocks it. A killed gateway leaves its lock behind; the next
 * gateway sees that the holder has ended and takes the lock over.
 */
export async function lockHome(homeDir: string, timers: Timers = systemWorld.timers): Promise<() => Promise<void>> {
  await mkdir(homeDir, { recursive: true, mode: 0o700 });
  const path = join(homeDir, LOCK_FILE);
  const self: Holder = { pid: process.pid, startedAt: (await processStart(process.pid)) ?? UNKNOWN_START };
  const ours = `${JSON.stringify(self)}\n`;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (await createWholeFile(path, ours)) return () => release(path, ours);
    const text = await readIfThere(path);
    if (text === undefined) continue;
    const holder = parseHolder(text);
    if (holder && (await isAlive(holder))) throw new HomeInUseError(homeDir, holder.pid);
    const isRemoved = await removeStale(path, text, tries >= MARK_ABANDONED_AFTER_TRIES);
    if (!isRemoved) await timers.sleep(PAUSE_MS);
  }
  throw new Error(`Could not lock the folder ${homeDir}: the file ${path} kept changing. Try again.`);
}

async function release(path: string, ours: string): Promise<void> {
  if ((await readIfThere(path)) === ours) await unlinkIfThere(path);
}

/**
 * Removes the lock of a dead gateway. If several gateways find it, only the gateway that creates the mark, a second file, may
 * delete the lock, and only while the lock's text is unchanged. Without the mark, a slow gateway could delete the new lock of a
 * faster one, and both would run on the same data.
 */
async function removeStale(path: string, staleText: string, isMarkAbandoned: boolean): Promise<boolean> {
  const mark = `${path}.stale`;
  if (!(await createEmpty(mark))) {
    if (isMarkAbandoned) await unlinkIfThere(mark);
    return false;
  }
  if ((await readIfThere(path)) === staleText) await unlinkIfThere(path);
  await unlinkIfThere(mark);
  return true;
}

async function isAlive(holder: Holder): Promise<boolean> {
  const startedAt = await processStart(holder.pid);
  if (startedAt === undefined) return false;
  return startedAt === holder.startedAt || startedAt === UNKNOWN_START || holder.startedAt === UNKNOWN_START;
}

function parseHolder(text: string): Holder | undefined {
  try {
    const { pid, startedAt } = JSON.parse(text);
    return Number.isSafeInteger(pid) && typeof startedAt === 'string' ? { pid, startedAt } : undefined;
  } catch {
    return undefined;
  }
}

async function createEmpty(path: string): Promise<boolean> {
  const file = await open(path, 'wx', 0o600).catch(unlessCode('EEXIST'));
  await file?.close();
  return file !== undefined;
}

const readIfThere = (path: string) => readFile(path, 'utf8').catch(unlessCode('ENOENT'));
