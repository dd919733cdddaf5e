import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { createBatcher } from '../runtime/batcher.ts';
import type { Timers } from '../runtime/world.ts';

/**
 * A record of a chain's history: an accepted transaction, a mined block, a move of the chain's time, or replaced blocks. The same
 * transactions at the same times give the same blocks, down to their hashes.
 */
export type ChainRecord =
  | { readonly atMs: number; readonly transaction: string }
  | { readonly atMs: number; readonly block: { readonly timestampS: number } }
  /** After this record, block times are ahead of the machine's time by `aheadMs` milliseconds. */
  | { readonly atMs: number; readonly aheadMs: number }
  /** The last blocks are replaced by the same number of others, with the same transactions. */
  | { readonly atMs: number; readonly replaced: { readonly depth: number } & BranchTimes };

/** The times of replacement blocks: of the first one, which has the transactions, and of the rest. */
export interface BranchTimes {
  readonly firstS: number;
  readonly restS: number;
}

export interface ChainJournal {
  /** Resolves when the record is on disk. Records keep the order of the calls. Concurrent records share a flush. */
  append(record: ChainRecord): Promise<void>;
  close(): Promise<void>;
}

const MAX_GROUP = 1_000;

export class BrokenJournalError extends Error {
  constructor(path: string, line: number) {
    super(
      `Line ${line} of the sandbox chain's journal ${path} is damaged, and there are good lines after it. ` +
        'Restore the file from a backup, or set TILL_HOME to another folder to begin anew.',
    );
    this.name = 'BrokenJournalError';
  }
}

/** Replays all records and opens the journal for appending. An incomplete last record was never acknowledged, so it is cut off. */
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

/** Replays the valid lines, and returns the number of their bytes. */
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
    // The last line counts only with its line feed. Without it, the line may be incomplete.
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
  const write = createBatcher<ChainRecord, void>(
    { timers },
    {
      maxItems: MAX_GROUP,
      // One flush at a time, so that the order on disk is the order of the calls.
      maxConcurrent: 1,
      isItemsFault: () => false,
      run: async (records) => {
        // After a failed write the content of the disk is unknown, so all later writes fail.
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
    },
  );
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

/** A record as a line with a checksum, which detects sectors that a power cut left blank or old. */
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
