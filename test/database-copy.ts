import { systemWorld } from '../src/runtime/system-world.ts';
import type { Database } from '../src/store/plumbing/database.ts';

/** A copy of every row, as a backup would have it. */
export interface DatabaseCopy {
  /** Restores the database to the copy. */
  restore(): Promise<void>;
}

/** Copies every table into a separate schema. A database has one copy at a time. */
export async function copyDatabase(db: Database): Promise<DatabaseCopy> {
  const tables = await db.sql<{ name: string; columns: string }[]>`
    select c.table_name as name, string_agg(quote_ident(c.column_name), ', ') as columns
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name <> 'migrations'
      and c.is_generated = 'NEVER'
    group by c.table_name`;
  await db.begin(systemWorld.random, async (tx) => {
    await tx.unsafe('create schema copy');
    for (const { name } of tables) await tx.unsafe(`create table copy.${name} as table public.${name}`);
  });
  return {
    restore: () =>
      db.begin(systemWorld.random, async (tx) => {
        await tx.unsafe('set local session_replication_role = replica');
        await tx.unsafe(`truncate ${tables.map(({ name }) => `public.${name}`).join(', ')}`);
        for (const { name, columns } of tables) {
          const into = `insert into public.${name} (${columns}) overriding system value`;
          await tx.unsafe(`${into} select ${columns} from copy.${name}`);
        }
      }),
  };
}
