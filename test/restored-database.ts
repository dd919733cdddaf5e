import type { Reader } from '../src/store/plumbing/statement.ts';

/** The state of a new database, which a restored one has again. */
export interface NewDatabase {
  /** A text that changes with every definition. */
  readonly definitions: string;
  /** Statements that delete all rows, and insert those of a new database again. */
  readonly statements: string;
}

/** A larger database is not restored: every scan reads its dead rows, and nobody vacuums it. */
const MAX_BYTES = 4 * 1024 ** 2;

/** The catalogs with definitions and statistics. A row's `xmin` is the transaction of its last change. */
const CATALOGS = Object.entries({
  pg_class: 'oid',
  pg_attribute: 'attrelid',
  pg_attrdef: 'adrelid',
  pg_constraint: 'oid',
  pg_index: 'indexrelid',
  pg_proc: 'oid',
  pg_trigger: 'oid',
  pg_type: 'oid',
  pg_rewrite: 'oid',
  pg_policy: 'oid',
  pg_namespace: 'oid',
  pg_statistic: 'starelid',
});
const FIRST_OWN_OID = 16_384;
const DEFINITIONS = `select concat_ws(' ', ${CATALOGS.map(
  ([catalog, oid]) =>
    `(select concat_ws(' ', count(*), max(xmin::text::bigint)) from ${catalog} where ${oid} >= ${FIRST_OWN_OID})`,
).join()},
  (select count(*) from pg_extension), (select count(*) from pg_event_trigger), (select count(*) from pg_publication),
  (select count(*) from pg_default_acl),
  (select concat_ws(' ', datallowconn, datconnlimit, datacl, pg_get_userbyid(datdba))
    from pg_database where datname = current_database()),
  (select count(*) from pg_db_role_setting join pg_database d on d.oid = setdatabase where datname = current_database())
  ) as definitions`;

export async function describeNew(sql: Reader): Promise<NewDatabase> {
  const tables = await sql.unsafe<{ name: string }[]>(
    `select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  );
  const rows = await sql.unsafe<{ name: string; rows: string | null }[]>(
    tables
      .map(({ name }) => `select '${name}' as name, quote_literal(jsonb_agg(each)) as rows from ${name} each`)
      .join(' union all '),
  );
  const statements = [
    'begin',
    // No trigger runs, and no foreign key is checked.
    'set local session_replication_role = replica',
    ...tables.map(({ name }) => `delete from ${name}`),
    ...rows.flatMap(({ name, rows }) =>
      rows === null
        ? []
        : [
            `insert into ${name} overriding system value select * from jsonb_populate_recordset(null::${name}, ${rows})`,
          ],
    ),
    'select setval(seqrelid, seqstart, false) from pg_sequence',
    'commit',
  ];
  return { definitions: await definitionsOf(sql), statements: statements.join('; ') };
}

/**
 * Brings the database back into the state of a new one. False if it cannot be used again: a session besides the kept ones
 * is open, a definition was changed, or it has become large.
 */
export async function restore(
  sql: Reader,
  { definitions, statements }: NewDatabase,
  kept: readonly number[],
): Promise<boolean> {
  const [state] = await sql.unsafe<{ isInUse: boolean; bytes: string }[]>(
    `select exists (select from pg_stat_activity where datname = current_database()
       and pid <> pg_backend_pid() and pid <> all ('{${kept.join()}}')) as "isInUse",
     (select sum(pg_relation_size(oid)) from pg_class where oid >= ${FIRST_OWN_OID} and relkind = 'r') as bytes`,
  );
  if (state === undefined || state.isInUse || Number(state.bytes) > MAX_BYTES) return false;
  if ((await definitionsOf(sql)) !== definitions) return false;
  await sql.unsafe(statements);
  return true;
}

async function definitionsOf(sql: Reader): Promise<string> {
  const [row] = await sql.unsafe<{ definitions: string }[]>(DEFINITIONS);
  return row?.definitions ?? '';
}
