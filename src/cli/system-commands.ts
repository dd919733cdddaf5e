import { recordMigration } from '../actions/record-migration.ts';
import { runbookOf } from '../domain/alert.ts';
import { SETTINGS } from '../settings/config.ts';
import { describeConfig } from '../settings/read-config.ts';
import { listAlerts } from '../store/plumbing/alerts.ts';
import { migrate, migrationState } from '../store/plumbing/migrate.ts';
import { type Command, command, databaseCommand, operatorOf } from './command.ts';
import { type Connection, connect, onPool, worldOf } from './connect.ts';
import { listing } from './listing.ts';

const alerts = databaseCommand({
  name: 'alerts',
  summary: 'Show the alerts that need attention.',
  examples: ['alerts', 'alerts --json'],
  run: async ({ db }) =>
    listing(
      (await listAlerts(db.sql)).map((alert) => ({ ...alert, runbook: runbookOf(alert.name) })),
      {
        columns: [
          { title: 'name', cell: (alert) => alert.name },
          { title: 'subject', cell: (alert) => alert.subject },
          { title: 'since', cell: (alert) => alert.since },
          { title: 'last seen', cell: (alert) => alert.lastSeen },
          { title: 'message', cell: (alert) => alert.message },
          { title: 'what to do', cell: (alert) => alert.runbook },
        ],
        empty: 'No alerts: all is well.',
      },
    ),
});

export const migrateDatabase = command({
  name: 'migrate',
  summary: 'Bring the database schema up to this version. Data stays; there is no way back.',
  examples: ['migrate'],
  run: async (context) => {
    const { newerSchema } = context.config;
    const shared = await connect(context);
    const connection = { ...shared, url: shared.migrateUrl };
    try {
      const before = await applied(connection, newerSchema);
      await migrate(context, connection.url, newerSchema);
      const news = (await applied(connection, newerSchema)).slice(before.length);
      const migrated = { actor: operatorOf(context.config), before: before.at(-1), applied: news };
      if (news.length > 0)
        await onPool(connection, async (db) =>
          recordMigration(
            { ...context, registry: context.config.registry, db, world: await worldOf(context, db) },
            migrated,
          ),
        );
      const text = news.length === 0 ? 'Nothing to do: the schema is up to date.' : `Applied ${news.join(', ')}.`;
      return { json: { applied: news }, text };
    } finally {
      await connection.close();
    }
  },
});

const config = command({
  name: 'config',
  summary: 'Show the settings in force; secrets as ***.',
  examples: ['config'],
  run: async (context) =>
    listing(describeConfig(context.config), {
      columns: [
        { title: 'setting', cell: ({ setting }) => setting },
        { title: 'value', cell: ({ setting, value }) => (value === '' ? unset(setting) : value) },
      ],
      empty: 'No settings.',
    }),
});

export const systemCommands: readonly Command[] = [alerts, migrateDatabase, config];

async function applied(connection: Connection, newest: string | undefined): Promise<string[]> {
  return (await onPool(connection, (db) => migrationState(db.sql, newest))).applied;
}

function unset(env: string): string {
  const { defaultDoc } = Object.values(SETTINGS).find((setting) => setting.env === env) ?? {};
  return defaultDoc === undefined ? '(not set)' : `(not set: ${defaultDoc.replaceAll('`', '')})`;
}
