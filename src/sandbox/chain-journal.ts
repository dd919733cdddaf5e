import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { createBatcher } from '../runtime/batcher.ts';
import type { Timers } from '../runtime/world.ts';

/**
 * The history of a chain, in order: the transactions it accepted, the blocks it made of them, moves of its time, and
 * blocks that were replaced. The same transactions at the same time give the same block, down to its hash.
 */
export type ChainRecord =
  | { readonly atMs: number; readonly transaction: string }
  | { readonly atMs: number; readonly block: { readonly timestampS: number } }
  /** From here on blocks are this far ahead of the machine's time. */
  | { readonly atMs: number; readonly aheadMs: number }
  /** The last blocks are replaced by as many others, with the same transactions. */
  | { readonly atMs: number; readonly replaced: { readonly depth: number } & BranchTimes };

/** The times of a branch: that of its first block, which has the transactions, and that of all others. */
export interface BranchTimes {
  readonly firstS: number;
  readonly restS: number;
}

export interface ChainJournal {
  /**
   * Resolves when the record is on disk. Records are kept in the order of the calls; concurrent records share a flush.
   */
  append(record: ChainRecord): Promise<void>;
  close(): Promise<void>;
}

const MAX_GROUP = 1_000;

/** The journal is damaged. */
export class BrokenJournalError extends Error {
  constructor(path: string, line: number) {
    super(
      `Line ${line} of the sandbox chain's journal ${path} is damaged, and there are good lines after it. ` +
        'Restore the file from a backup, or set TILL_HOME to another folder to begin anew.',
    );
    this.name = 'BrokenJournalError';
  }
}

/**
 * Replays every record in order, and opens the journal for more. A torn record at the end was never acknowledged, and
 * is cut away.
 */
export async function openChainJournal(
  timers: Timers,
  path: string,
  replay: (record: ChainRecord) => Promise<void>,
): Promise<ChainJournal> {
  const file = await open(path, 'a+', 0o600);
  try {
    const goodBytes = await readRecords(file, path, replay);
    if (goodBytes < (await file.stat()).size) {
      await file.truncate(goodBytes);
      await file.sync();
    }
    return writer(timers, file);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The number of bytes of good lines from the start. */
async function readRecords(
  file: FileHandle,
  path: string,
  replay: (record: ChainRecord) => Promise<void>,
): Promise<number> {
  const size = (await file.stat()).size;
  let good = 0;
  let at = 0;
  let lines = 0;
  let firstBad: number | undefined;
  for await (const line of file.readLines({ start: 0, autoClose: false, encoding: 'latin1' })) {
    lines += 1;
    at += line.length + 1;
    // The last line counts only with its line feed. Without one it may be half of a longer line.
    const record = at <= size ? parseLine(line) : undefined;
    if (record === undefined) {
      firstBad ??= lines;
      continue;
    }
    if (firstBad !== undefined) throw new BrokenJournalError(path, firstBad);
    await replay(record);
    good = at;
  }
  return good;
}

function writer(timers: Timers, file: FileHandle): ChainJournal {
  let broken: unknown;
  let last: Promise<void> = Promise.resolve();
  const write = createBatcher<ChainRecord, void>(timers, {
    maxItems: MAX_GROUP,
    // One at a time, so that the order on disk is the order of the calls.
    maxConcurrent: 1,
    isItemsFault: () => false,
    run: async (records) => {
      // After a failed write the state of the disk is unknown, so every later write fails.
      if (broken !== undefined) throw broken;
      try {
        await file.appendFile(records.map(formatLine).join(''), 'latin1');
        await file.datasync();
      } catch (error) {
        broken = error;
        throw error;
      }
      return records.map(() => undefined);
    },
  });
  return {
    append: (record) => {
      const written = write(record);
      last = written.catch(() => {});
      return written;
    },
    async close() {
      await last;
      await file.close();
    },
  };
}

/** A checksum and JSON: sectors that a power cut left blank or old do not pass for a record. */
function formatLine(record: ChainRecord): string {
  const text = JSON.stringify(record);
  return `${checksum(text)} ${text}\n`;
}

function parseLine(line: string): ChainRecord | undefined {
  const text = line.slice(9);
  if (line.slice(0, 9) !== `${checksum(text)} `) return undefined;
  return JSON.parse(text) as ChainRecord;
}

const checksum = (text: string) => crc32(text).toString(16).padStart(8, '0');
