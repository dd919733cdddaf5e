import {
  clearFinalBytes,
  countFinalBytes,
  countRefusedEvents,
  deleteRefusedEvents,
  type Prunable,
  type PrunedPage,
} from '../../store/chain/prunable.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Reader, Tx } from '../../store/plumbing/database.ts';
import { type CommandDeps, command } from '../command.ts';
import { ownTransactions } from '../renew-macs.ts';

/**
 * A kind of old data that an operator may delete. Payments, events, books, movements, lots and items stay for ever: lists, statistics,
 * receipts and `rebuild` read them. Jobs delete everything else that has an end, such as deliveries and Idempotency-Keys.
 */

interface Kind {
  readonly what: PruneKind;
  count(db: Reader, before: Date): Promise<Prunable>;
  page(
    tx: Tx,
    ask: { readonly after: never; readonly before: Date; readonly limit: number },
  ): Promise<PrunedPage<unknown>>;
}

export type PruneKind = 'bytes of final transactions' | 'refused events of the chain';

const KINDS: readonly Kind[] = [
  { what: 'bytes of final transactions', count: countFinalBytes, page: clearFinalBytes },
  { what: 'refused events of the chain', count: countRefusedEvents, page: deleteRefusedEvents },
];

/** The least age of rows that are pruned. After a reorg a younger transaction may have to be broadcast again. */
export const LEAST_KEPT_MS = 30 * 86_400_000;

const FIRST_PAGE = 500;
const SMALLEST_PAGE = 20;
/**
 * The duration above which pages become smaller: half of the time that a maintenance command may hold a lock which payments could need.
 */
const MOST_MS = 50;
/** The pause after a page that changed rows, which leaves the disk to payments. */
const PAUSE_MS = 10;

export interface PruneCount extends Prunable {
  readonly what: PruneKind;
}

export interface Pruned {
  readonly what: PruneKind;
  readonly rows: number;
  readonly pages: number;
  /** The duration of the longest database transaction. */
  readonly longestMs: number;
  readonly tookMs: number;
}

/** The rows and bytes of each kind that are older than `before`. Changes nothing. */
export async function countOld(db: Reader, before: Date): Promise<PruneCount[]> {
  const counts: PruneCount[] = [];
  for (const { what, count } of KINDS) counts.push({ what, ...(await count(db, before)) });
  return counts;
}

/**
 * Deletes the rows that are older than `before`, in pages. Each page is one database transaction. Pages become smaller when they take
 * long. An interrupted run has deleted whole pages; the next run begins again, and finds nothing left in them.
 */
export async function pruneOld(
  deps: CommandDeps,
  { before, actor }: { readonly before: Date; readonly actor: string },
): Promise<Pruned[]> {
  const pruned = await pruneKinds(deps, before);
  const rows = Object.fromEntries(pruned.map((each) => [each.what, each.rows]));
  await command(deps, (tx, at) =>
    appendAudit(tx, { at, actor, action: 'database.pruned', subject: 'database', detail: { before, rows } }),
  );
  return pruned;
}

/** Prunes one kind after the other. An error ends the run; rows that were deleted before stay deleted. */
async function pruneKinds(deps: CommandDeps, before: Date): Promise<Pruned[]> {
  const pruned: Pruned[] = [];
  for (const kind of KINDS) pruned.push(await pruneKind(deps, kind, before));
  return pruned;
}

async function pruneKind(deps: CommandDeps, { what, page }: Kind, before: Date): Promise<Pruned> {
  const pages = ownTransactions(deps);
  const beganMs = deps.world.clock.nowMs();
  const total = { rows: 0, pages: 0, longestMs: 0 };
  let limit = FIRST_PAGE;
  for (let after: unknown; ; ) {
    let fromMs = 0;
    const { rows, last } = await pages((tx) => {
      // The duration of a page is measured from here, because attempts that only waited for a lock do not count.
      fromMs = deps.world.clock.nowMs();
      return page(tx, { after: after as never, before, limit });
    });
    const tookMs = deps.world.clock.nowMs() - fromMs;
    total.rows += rows;
    total.pages += 1;
    total.longestMs = Math.max(total.longestMs, tookMs);
    if (last === undefined) return { what, ...total, tookMs: deps.world.clock.nowMs() - beganMs };
    after = last;
    limit = tookMs > MOST_MS ? Math.max(SMALLEST_PAGE, Math.floor(limit / 2)) : Math.min(FIRST_PAGE, limit * 2);
    if (rows > 0) await deps.world.timers.sleep(PAUSE_MS);
  }
}
