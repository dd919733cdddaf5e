import type { Reader } from '../src/store/plumbing/database.ts';

/** The work of PostgreSQL between two moments, for each payment. */
export interface DatabaseCounts {
  /** Every statement is one round trip, as `begin` and `commit` are. */
  readonly lines: readonly string[];
}

interface StatementCount {
  readonly query: string;
  readonly calls: string;
  readonly ms: string;
  readonly plans: string;
  readonly planMs: string;
  readonly rows: string;
  readonly wal: string;
}

interface RecordCount {
  readonly table: string;
  readonly index: string | null;
  readonly entries: string;
  readonly bytes: string;
}

interface TableCount {
  readonly table: string;
  readonly inserted: string;
  readonly updated: string;
  readonly hot: string;
  readonly deleted: string;
}

const STATEMENTS_SHOWN = 45;
const MAX_TEXT = 150;

/** Loads the extensions at the next start of PostgreSQL. Only a superuser may, as the embedded server's user is. */
export async function prepareCounting(sql: Reader): Promise<void> {
  await sql.unsafe(`alter system set shared_preload_libraries = 'pg_stat_statements'`);
  await sql.unsafe('alter system set pg_stat_statements.max = 10000');
  await sql.unsafe('alter system set pg_stat_statements.track_planning = on');
  // The records of the log are counted at the end.
  await sql.unsafe(`alter system set wal_keep_size = '8GB'`);
}

/** Begins to count; the returned function ends it. */
export async function beginCounting(sql: Reader): Promise<(payments: number) => Promise<DatabaseCounts>> {
  await sql.unsafe('create extension if not exists pg_stat_statements');
  await sql.unsafe('create extension if not exists pg_walinspect');
  await sql.unsafe('checkpoint');
  const before = new Map((await tableCounts(sql)).map((count) => [count.table, count]));
  const [{ lsn } = { lsn: '' }] = await sql<{ lsn: string }[]>`select pg_current_wal_insert_lsn()::text as lsn`;
  await sql`select pg_stat_statements_reset(), pg_stat_reset_shared('io'), pg_stat_reset_shared('wal')`;
  return async (payments) => {
    const statements = await sql<StatementCount[]>`
      select query, calls, total_exec_time + total_plan_time as ms, plans, total_plan_time as "planMs", rows, wal_bytes as wal
      from pg_stat_statements where query not like '%pg_stat%' order by total_exec_time + total_plan_time desc`;
    const io = await sql<{ what: string; count: string }[]>`
      select backend_type || ', ' || object || ', ' || context as what,
        format('%s writes, %s extends, %s syncs', sum(writes), sum(extends), sum(fsyncs)) as count
      from pg_stat_io where coalesce(writes, 0) + coalesce(extends, 0) + coalesce(fsyncs, 0) > 0
      group by 1 order by 1`;
    const records = await sql<RecordCount[]>`
      select t.relname as "table", case when c.relkind = 'i' then c.relname end as index,
        count(*) filter (where record_type in ('INSERT_LEAF', 'INSERT', 'HOT_UPDATE', 'UPDATE', 'MULTI_INSERT')) as entries,
        sum(record_length - block_fpi_length) as bytes
      from pg_get_wal_block_info(${lsn}::pg_lsn, pg_current_wal_insert_lsn()) w
        join pg_class c on pg_relation_filenode(c.oid) = w.relfilenode
        left join pg_index i on i.indexrelid = c.oid
        left join pg_class t on t.oid = coalesce(i.indrelid, c.oid)
      -- A record can name several pages, the written one first.
      where block_id = 0 and reldatabase = (select oid from pg_database where datname = current_database())
      group by 1, 2 order by 1, 2 nulls first`;
    const tables = await tableCounts(sql);
    const each = (value: string | number, digits = 3) => (Number(value) / payments).toFixed(digits);
    const sum = (key: 'calls' | 'ms' | 'plans' | 'planMs' | 'rows' | 'wal') =>
      statements.reduce((total, statement) => total + Number(statement[key]), 0);
    return {
      lines: [
        `for each of ${payments} payments: ${each(sum('calls'))} statements (round trips), ${each(sum('rows'))} rows, ` +
          `${each(sum('wal'), 0)} bytes of WAL, ${each(sum('ms') * 1000, 0)} µs in statements, of them ${each(sum('planMs') * 1000, 0)} µs for ${each(sum('plans'))} plans`,
        'statements: calls, plans, rows, µs, µs of planning, WAL bytes of a payment',
        ...statements
          .slice(0, STATEMENTS_SHOWN)
          .map(
            ({ query, calls, plans, rows, ms, planMs, wal }) =>
              `  ${each(calls)} ${each(plans)} ${each(rows)} ${each(Number(ms) * 1000, 1)} ${each(Number(planMs) * 1000, 1)} ${each(wal, 0)}  ${textOf(query)}`,
          ),
        'tables: inserted, updated, of them HOT, deleted, of a payment',
        ...tables.flatMap((after) => {
          const of = (key: 'inserted' | 'updated' | 'hot' | 'deleted') =>
            Number(after[key]) - Number(before.get(after.table)?.[key] ?? 0);
          const counts = [of('inserted'), of('updated'), of('hot'), of('deleted')];
          return counts.every((count) => count === 0)
            ? []
            : [`  ${after.table}: ${counts.map((count) => each(count)).join(' ')}`];
        }),
        'WAL of tables and indexes: records that write an entry, bytes, of a payment',
        ...records.map(
          ({ table, index, entries, bytes }) =>
            `  ${index === null ? table : `  ${index}`}: ${each(entries)} ${each(bytes, 0)}`,
        ),
        'writes and flushes of all payments, by process',
        ...io.map(({ what, count }) => `  ${what}: ${count}`),
      ],
    };
  };
}

function tableCounts(sql: Reader): Promise<TableCount[]> {
  return sql<TableCount[]>`
    select relname as "table", n_tup_ins as inserted, n_tup_upd as updated, n_tup_hot_upd as hot, n_tup_del as deleted
    from pg_stat_user_tables order by relname`;
}

function textOf(query: string): string {
  return query.replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
}
