import { INVARIANTS, type Invariant } from './invariants.ts';
import { type Stage, Violation } from './stage.ts';

/** Throws the first violation. */
export async function checkInvariants(stage: Stage, when: Invariant['when']): Promise<void> {
  const { sql } = stage;
  const asked = INVARIANTS.filter((invariant) => invariant.when === when);
  const [found] = await sql<{ name: string; problem: string }[]>`
    with found as (select '' as name, '' as problem where false ${union(sql, asked)})
    select name, problem from found order by name, problem limit 1`;
  if (found !== undefined) throw new Violation(found.name, found.problem);
  for (const { name, check } of asked) {
    const problem = await check?.(stage);
    if (problem !== undefined) throw new Violation(name, problem);
  }
}

function union(sql: Stage['sql'], invariants: readonly Invariant[]): ReturnType<Stage['sql']> {
  return invariants.reduce(
    (all, { name, find }) =>
      find === undefined ? all : sql`${all} union all select ${name}::text, problem from (${find(sql)}) as f`,
    sql``,
  );
}
