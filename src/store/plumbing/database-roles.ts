import { connect, connectionSettings, rowsOf, send } from './connection.ts';
import { findPrimary } from './primary.ts';
import { type Reader, readerOf, textOf } from './statement.ts';

/**
 * The names of the roles besides the migrate role. Three roles use the database. The migrate role owns the tables and changes the schema.
 * Nodes and operator commands use the run role, which cannot change the schema, disable a trigger, or change rows of append-only tables.
 * The read role can only read, for reports and support.
 */
const RUN = 'till_run';
const READ = 'till_read';

/**
 * Tables whose rows never change. The run role may not change them. A trigger refuses changes as well, and only the owner of a table can
 * disable it.
 */
const APPEND_ONLY = [
  'api_key_ends',
  'audit_log',
  'book_entries',
  'destination_history',
  'events',
  'event_batches',
  'float_changes',
  'freeze_heads',
  'known_records',
  'person_ends',
  'screened_movements',
];

/**
 * SQL text that creates the missing roles, and sets their rights on all existing tables. All statements are in one transaction, so that
 * running nodes never lack a right. Roles belong to the whole server: another database of the same server may have created them, even at
 * the same moment.
 */
export const ROLES_SQL = `begin;
do $$ begin create role ${RUN} login; exception when duplicate_object or unique_violation then null; end $$;
do $$ begin create role ${READ} login; exception when duplicate_object or unique_violation then null; end $$;
${grants()}
commit;
`;

function grants(): string {
  return `revoke create on schema public from public;
revoke all on all tables in schema public from ${RUN}, ${READ};
grant usage on schema public to ${RUN}, ${READ};
grant select on all tables in schema public to ${RUN}, ${READ};
grant insert, update, delete on all tables in schema public to ${RUN};
grant usage on all sequences in schema public to ${RUN};
-- The database of an older version lacks some of these tables until it is migrated.
do $$ declare name text; begin
  foreach name in array '{${APPEND_ONLY.join(', ')}}'::text[] loop
    if to_regclass(name) is not null then execute format('revoke update, delete on %I from ${RUN}', name); end if;
  end loop;
end $$;
-- The seal of an entry is its only change.
grant update (sequence, hash) on book_entries to ${RUN};
revoke delete on payments, webhook_endpoints from ${RUN};
revoke insert, delete on webhook_cursor from ${RUN};
revoke insert, update, delete on migrations from ${RUN};`;
}

export function applyRoles(migrateUrl: string): Promise<void> {
  return asMigrator(migrateUrl, async (sql) => {
    await sql.unsafe(ROLES_SQL);
  });
}

/** Sets the rights on the tables that a migration has created, if the roles are in use. The caller must have begun a transaction. */
export async function renewGrants(sql: Reader): Promise<void> {
  const [row] = await sql<{ isInUse: boolean }[]>`
    select exists (
      select from pg_roles where rolname = ${RUN} and has_table_privilege(oid, 'migrations', 'select')
    ) as "isInUse"`;
  if (row?.isInUse) await sql.unsafe(grants());
}

/** Sets a new password for the run role of the embedded server. Returns the URL with which this role connects. */
export async function openRunRole(
  { random }: { random: { bytes(count: number): Uint8Array } },
  migrateUrl: string,
): Promise<string> {
  // The password contains only letters, digits, - and _, so it needs no escaping in the SQL statement or the URL.
  const password = Buffer.from(random.bytes(24)).toString('base64url');
  await asMigrator(migrateUrl, async (sql) => {
    await sql.unsafe(ROLES_SQL);
    await sql.unsafe(`alter role ${RUN} login password '${password}'`);
  });
  return Object.assign(new URL(migrateUrl), { username: RUN, password }).href;
}

async function asMigrator(url: string, work: (sql: Reader) => Promise<void>): Promise<void> {
  const { url: primaryUrl } = await findPrimary(url);
  const client = await connect(connectionSettings({ url: primaryUrl, applicationName: 'till-migrate' }));
  try {
    await work(readerOf(async (statement) => rowsOf(await send(client, textOf(statement)))));
  } finally {
    await client.end();
  }
}
