import type { Tx } from '../store/plumbing/database.ts';
import { databaseFault } from '../store/plumbing/database.ts';
import { limitLockWait } from '../store/plumbing/locks.ts';
import { type CommandDeps, command } from './command.ts';

/** Runs the work on one page of rows, in a database transaction of its own or in the caller's. */
export type Pages = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/**
 * The number of rows in a page, which stay locked while the page is written. A page is small, and waits at most `MAX_WAIT_MS` for locks
 * of other database transactions. Therefore no payment waits longer than 100 ms for a page.
 */
const PAGE = 200;
const MAX_WAIT_MS = 50;
const PAUSE_MS = 50;
/**
 * The most attempts for one page, which take about a minute. Giving up loses nothing: written pages stay, and the command can be run
 * again.
 */
const MAX_ATTEMPTS = 600;

/**
 * Runs each page in a database transaction of its own. A page that meets a lock rolls back, which releases its own locks, and is tried
 * again after a pause.
 */
export function ownTransactions(deps: CommandDeps): Pages {
  return async (work) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await command(deps, async (tx) => {
          await limitLockWait(tx, MAX_WAIT_MS);
          return work(tx);
        });
      } catch (error) {
        const isTaken = databaseFault(error) === 'busy' || databaseFault(error) === 'conflict';
        if (!isTaken || attempt >= MAX_ATTEMPTS) throw error;
        await deps.world.timers.sleep(PAUSE_MS);
      }
    }
  };
}

export function within(tx: Tx): Pages {
  return (work) => work(tx);
}

interface Row {
  readonly id: string;
}

/** Does the work on all rows, page by page, and returns the sum of its results. */
export async function eachPage<Each extends Row>(
  pages: Pages,
  lock: (tx: Tx, page: { readonly after: string; readonly limit: number }) => Promise<readonly Each[]>,
  work: (tx: Tx, rows: readonly Each[]) => Promise<number>,
): Promise<number> {
  let done = 0;
  for (let after = ''; ; ) {
    const page = await pages(async (tx) => {
      const rows = await lock(tx, { after, limit: PAGE });
      return { count: rows.length, last: rows.at(-1)?.id, done: rows.length === 0 ? 0 : await work(tx, rows) };
    });
    done += page.done;
    if (page.count < PAGE || page.last === undefined) return done;
    after = page.last;
  }
}

interface MacTable<Each extends Row> {
  /** Locks the next page of rows, in the order of their ids. */
  lock(tx: Tx, page: { readonly after: string; readonly limit: number }): Promise<readonly Each[]>;
  macOf(row: Each): string;
  write(tx: Tx, macs: readonly { readonly id: string; readonly mac: string }[]): Promise<void>;
}

/** Writes the MACs of trusted rows under the newest key, and returns their number. Other rows keep their MACs. */
export function renewMacs<Each extends Row>(
  pages: Pages,
  table: MacTable<Each>,
  isTrusted: (row: Each) => boolean,
): Promise<number> {
  return eachPage(pages, table.lock, async (tx, rows) => {
    const macs = rows.filter(isTrusted).map((row) => ({ id: row.id, mac: table.macOf(row) }));
    if (macs.length > 0) await table.write(tx, macs);
    return macs.length;
  });
}

/** The age after which a paid transfer is never signed again, because no reorg reaches back so far. */
const SETTLED_MS = 7 * 24 * 3_600_000;

export interface Renewal<Each> {
  readonly isTrusted: (row: Each) => boolean;
  readonly now: Date;
}

/** `renewMacs` for the rows of transfers that the gateway signs. It takes only rows whose transfer may still be signed again. */
export function renewSignableMacs<Each extends Row>(
  pages: Pages,
  table: Omit<MacTable<Each>, 'lock'> & {
    lock(
      tx: Tx,
      page: { readonly after: string; readonly limit: number; readonly paidSince: Date },
    ): Promise<readonly Each[]>;
  },
  { isTrusted, now }: Renewal<Each>,
): Promise<number> {
  const paidSince = new Date(now.getTime() - SETTLED_MS);
  return renewMacs(pages, { ...table, lock: (tx, page) => table.lock(tx, { ...page, paidSince }) }, isTrusted);
}
