import type { Invariant } from './invariant.ts';
import { INVARIANTS } from './invariants.ts';
import type { WatchedTable } from './meaning.ts';
import { type Stage, Violation } from './stage.ts';

/**
 * Promises about the memory of others: clients, receivers and programs that follow events remember more than a database that
 * was restored from a backup.
 */
const OF_MEMORY = new Set([
  'final states stay',
  'consumers miss nothing',
  'fencing numbers grow',
  'freezes hold',
  'strangers freeze nothing',
  'answers stay true',
  'followers miss nothing',
  'receivers miss nothing',
  'events are placed',
  'programs pay once',
  'x402 answers stay true',
  'mails are stored',
  'mails are sent as stored',
  'transfers keep their limit',
]);

/** Checks the promises that the changed tables are about. Throws the first violation. */
export async function checkChanged(stage: Stage, changed: ReadonlySet<WatchedTable>): Promise<void> {
  if (changed.size === 0) return;
  await check(
    stage,
    INVARIANTS.filter(({ about }) => about?.some((table) => changed.has(table))),
  );
}

/** Checks all promises. Throws the first violation. */
export async function checkAll(stage: Stage): Promise<void> {
  await check(stage, INVARIANTS);
}

async function check(stage: Stage, all: readonly Invariant[]): Promise<void> {
  const asked = all.filter(({ name }) => !stage.isRestored || !OF_MEMORY.has(name));
  const { sql } = stage;
  const found = asked.some(({ find }) => find !== undefined)
    ? await sql<{ name: string; problem: string }[]>`
        with found as (select '' as name, '' as problem where false ${union(sql, asked)})
        select name, problem from found order by name, problem limit 1`
    : [];
  for (const { name, problem } of found) throw new Violation(name, problem);
  const problems = await Promise.all(asked.map((invariant) => invariant.check?.(stage)));
  for (const [index, problem] of problems.entries()) {
    if (problem !== undefined) throw new Violation(asked[index]?.name ?? '', problem);
  }
}

function union(sql: Stage['sql'], invariants: readonly Invariant[]): ReturnType<Stage['sql']> {
  return invariants.reduce(
    (all, { name, find }) =>
      find === undefined ? all : sql`${all} union all select ${name}::text, problem from (${find(sql)}) as f`,
    sql``,
  );
}
