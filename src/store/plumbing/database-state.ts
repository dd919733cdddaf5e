import type {
  OldTransaction,
  Replication,
  SchemaParts,
  ServerState,
  SlowStatement,
  TableState,
} from '../../domain/doctor/facts.ts';
import type { DatabaseRights } from '../../domain/doctor/judge-set-up.ts';
import type { Reader } from './database.ts';

export async function readServerState(db: Reader): Promise<ServerState> {
  const [row] = await db<(Omit<ServerState, 'sizeBytes' | 'transactionAge'> & { size: string; age: string })[]>`
    select current_setting('server_version') as version,
      current_setting('server_version_num')::int as "versionNumber",
      current_user::text as role,
      (select rolsuper from pg_roles where rolname = current_user) as "isSuperuser",
      pg_is_in_recovery() as "isStandby",
      pg_postmaster_start_time() as "startedAt",
      pg_database_size(current_database())::text as size,
      (select count(*) from pg_stat_activity where backend_type = 'client backend')::int as connections,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as "maxConnections",
      (select age(datfrozenxid) from pg_database where datname = current_database())::text as age,
      current_setting('fsync') = 'on' as fsync,
      current_setting('full_page_writes') = 'on' as "fullPageWrites",
      current_setting('archive_mode') as "archiveMode",
      current_setting('synchronous_standby_names') as "synchronousStandbys",
      case when pg_has_role(current_user, 'pg_read_all_settings', 'member')
        then current_setting('data_directory') end as "dataDirectory",
      pg_has_role(current_user, 'pg_read_all_stats', 'member') as "seesAll"`;
  if (row === undefined) throw new Error('The server did not describe itself.');
  const { size, age, ...state } = row;
  return { ...state, sizeBytes: Number(size), transactionAge: Number(age) };
}

/**
 * The oldest open transaction of the database, apart from those of this program. PostgreSQL cannot remove rows that were deleted after its
 * start.
 */
export async function findOldestTransaction(db: Reader): Promise<OldTransaction | undefined> {
  const [row] = await db<OldTransaction[]>`
    select application_name as application, coalesce(state, '') as state, xact_start as since
    from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()
      and xact_start is not null and application_name <> current_setting('application_name')
    order by xact_start limit 1`;
  return row;
}

/** The tables with the most dead rows and the largest tables, the largest first. */
export async function listTableStates(db: Reader, limit: number): Promise<TableState[]> {
  const rows = await db<{ table: string; size: string; live: string; dead: string; vacuumedAt: Date | null }[]>`
    with tables as (
      select relname as name, pg_total_relation_size(relid) as size, n_live_tup as live, n_dead_tup as dead,
        greatest(last_vacuum, last_autovacuum) as vacuumed_at
      from pg_stat_user_tables where schemaname = current_schema()
    ), ranked as (
      select *, row_number() over (order by size desc) as by_size, row_number() over (order by dead desc) as by_dead
      from tables
    )
    select name as "table", size::text as size, live::text as live, dead::text as dead, vacuumed_at as "vacuumedAt"
    from ranked where by_size <= ${limit} or by_dead <= ${limit} order by size desc, name`;
  return rows.map(({ table, size, live, dead, vacuumedAt }) => ({
    table,
    sizeBytes: Number(size),
    liveRows: Number(live),
    deadRows: Number(dead),
    vacuumedAt,
  }));
}

export async function readSchemaParts(db: Reader): Promise<SchemaParts> {
  const [row] = await db<SchemaParts[]>`
    select
      (select coalesce(json_agg(json_build_object('name', extname, 'version', extversion) order by extname), '[]')
        from pg_extension) as extensions,
      (select coalesce(json_agg(c.relname order by c.relname), '[]')
        from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
        where not i.indisvalid and n.nspname = current_schema()) as "invalidIndexes"`;
  return row ?? { extensions: [], invalidIndexes: [] };
}

/**
 * The statements that took the most time of this database since PostgreSQL began to count. It lists only kinds of statements whose values
 * PostgreSQL replaces by placeholders. `alter role … password`, for example, would show the password.
 */
export async function listSlowStatements(db: Reader, limit: number): Promise<SlowStatement[]> {
  const rows = await db<{ text: string; calls: string; meanMs: string; totalMs: string }[]>`
    select left(regexp_replace(query, '\\s+', ' ', 'g'), 100) as text, calls::text as calls,
      round(mean_exec_time::numeric, 1)::text as "meanMs", round(total_exec_time::numeric)::text as "totalMs"
    from pg_stat_statements
    where dbid = (select oid from pg_database where datname = current_database())
      and query ~* '^\\s*(select|insert|update|delete|with)\\y'
    order by total_exec_time desc limit ${limit}`;
  return rows.map(({ text, calls, meanMs, totalMs }) => ({
    text,
    calls: Number(calls),
    meanMs: Number(meanMs),
    totalMs: Number(totalMs),
  }));
}

/** The standbys and replication slots of the server. A standby has none: its primary has them. */
export async function readReplication(db: Reader): Promise<Replication> {
  const [row] = await db<Replication[]>`
    with here as (select case when not pg_is_in_recovery() then pg_current_wal_lsn() end as lsn)
    select
      (select coalesce(json_agg(json_build_object('name', application_name, 'state', state, 'sync', sync_state,
          'lagBytes', pg_wal_lsn_diff(here.lsn, replay_lsn)) order by application_name), '[]')
        from pg_stat_replication, here) as standbys,
      (select coalesce(json_agg(json_build_object('name', slot_name, 'isActive', active,
          'keptBytes', pg_wal_lsn_diff(here.lsn, restart_lsn)) order by slot_name), '[]')
        from pg_replication_slots, here) as slots,
      (select case when last_failed_time > coalesce(last_archived_time, '-infinity') then last_failed_time end
        from pg_stat_archiver) as "archiveFailedAt"`;
  return row ?? { standbys: [], slots: [], archiveFailedAt: null };
}

export async function readRights(db: Reader): Promise<DatabaseRights> {
  const [row] = await db<DatabaseRights[]>`
    select quote_ident(current_user) as role, current_database()::text as database, current_schema()::text as schema,
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as "mayCreate",
      case when exists (select from pg_extension where extname = 'pg_trgm') then 'there'
        when exists (select from pg_available_extensions where name = 'pg_trgm') then 'missing'
        else 'unavailable' end as trigrams,
      has_database_privilege(current_database(), 'create') as "mayExtend"`;
  if (row === undefined) throw new Error('The server did not describe the rights of the role.');
  return row;
}

/** True if the role may write the gateway's tables. Null before these tables exist. */
export async function mayWrite(db: Reader): Promise<boolean | null> {
  const [row] = await db<{ mayWrite: boolean | null }[]>`
    select case when to_regclass('payments') is not null then
      has_table_privilege('payments', 'select') and has_table_privilege('payments', 'insert')
        and has_table_privilege('payments', 'update') end as "mayWrite"`;
  return row?.mayWrite ?? null;
}
