import type { Database } from '../src/store/plumbing/database.ts';

/** More than the connections of a scene. */
const CONNECTIONS = 8;

/**
 * The number of rows of a table that PostgreSQL has read so far, for all statements of all connections. Each connection counts its
 * own rows and reports them now and then, so all connections are asked to report at once.
 */
export async function rowsRead({ sql }: Pick<Database, 'sql'>, table: string): Promise<number> {
  // Each statement holds a connection until all have one: the lock is free once nobody waits for it.
  const report = () => sql`select pg_stat_force_next_flush(), pg_sleep(0.02)`;
  await Promise.all(Array.from({ length: CONNECTIONS }, report));
  const [row] = await sql<{ rows: number }[]>`
    select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_user_tables where relname = ${table}`;
  return row?.rows ?? 0;
}
