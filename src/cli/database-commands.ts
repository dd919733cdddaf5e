import { setDatabaseRoles } from '../actions/set-database-roles.ts';
import { ROLES_SQL } from '../store/plumbing/database-roles.ts';
import { type Command, command, operatorOf } from './command.ts';
import { connect, onPool, requireMigrated, worldOf } from './connect.ts';
import { flag } from './options.ts';

const roles = command({
  name: 'database roles',
  summary: 'Print the SQL that creates the run role and the read role and sets their rights.',
  options: { apply: flag('Run it with DATABASE_MIGRATE_URL.') },
  examples: ['database roles', 'database roles --apply'],
  run: async (context, { apply: isApplied }) => {
    if (!isApplied) return { json: { sql: ROLES_SQL }, text: ROLES_SQL.trimEnd() };
    const connection = await connect(context);
    const { migrateUrl } = connection;
    try {
      await onPool({ ...connection, url: migrateUrl }, async (db) => {
        await requireMigrated(context, db);
        await setDatabaseRoles(
          { ...context, registry: context.config.registry, db, world: await worldOf(context, db) },
          { actor: operatorOf(context.config), migrateUrl },
        );
      });
    } finally {
      await connection.close();
    }
    const text = [
      'The roles till_run and till_read exist and have their rights.',
      "Give each a password (alter role till_run password '…'), then set DATABASE_URL to the run role and DATABASE_MIGRATE_URL to this one.",
    ];
    return { json: { isApplied: true }, text: text.join('\n') };
  },
});

export const databaseCommands: readonly Command[] = [roles];
