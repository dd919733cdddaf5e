import { command } from '../../src/actions/command.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import type { Database, Tx } from '../../src/store/plumbing/database.ts';
import { REGISTRY } from '../registry.ts';

/** Copies of all tables, which take the place of a dump: the chain goes on, and the database goes back. */
export function openBackups(db: Database) {
  let taken = 0;

  async function tablesOf(tx: Tx): Promise<{ name: string; columns: string }[]> {
    return tx<{ name: string; columns: string }[]>`
      select c.table_name as name, string_agg(quote_ident(c.column_name), ', ' order by c.ordinal_position) as columns
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where table_schema = 'public' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
        and c.table_name <> 'migrations'
      group by c.table_name order by c.table_name`;
  }

  return {
    take: () =>
      command({ registry: REGISTRY, db, world: systemWorld }, async (tx) => {
        taken += 1;
        await tx.unsafe(`create schema backup_${taken}`);
        for (const { name, columns } of await tablesOf(tx)) {
          await tx.unsafe(`create table backup_${taken}.${name} as select ${columns} from public.${name}`);
        }
      }),
    /** Goes back to the last copy. */
    restore: () =>
      command({ registry: REGISTRY, db, world: systemWorld }, async (tx) => {
        const tables = await tablesOf(tx);
        // Neither triggers nor foreign keys stand in the way of a restore.
        await tx.unsafe('set local session_replication_role = replica');
        await tx.unsafe(`truncate ${tables.map(({ name }) => `public.${name}`).join(', ')}`);
        for (const { name, columns } of tables) {
          await tx.unsafe(
            `insert into public.${name} (${columns}) overriding system value select ${columns} from backup_${taken}.${name}`,
          );
        }
      }),
  };
}
