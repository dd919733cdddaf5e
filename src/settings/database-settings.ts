import { databaseUrl, flag, integer, text } from './kinds.ts';
import { setting } from './setting.ts';

/** Settings of the database and of the connections to it. */
export const DATABASE_SETTINGS = {
  databaseUrl: setting(
    'DATABASE_URL',
    databaseUrl(),
    undefined,
    'PostgreSQL to use, version 15 or newer. All nodes of one gateway share it. It may name several hosts, `host1:5432,host2:5432`: nodes use the primary among them. Of its parameters, `sslmode`, `sslrootcert` and `connect_timeout` (seconds, 5 by default, 0 for none) have their usual meaning.',
    'an embedded PostgreSQL under `TILL_HOME`',
  ),
  databaseDirectUrl: setting(
    'DATABASE_DIRECT_URL',
    databaseUrl(),
    undefined,
    'The same database without the pooler, if `DATABASE_URL` leads to PgBouncer in transaction mode. Notifications, migrations and operator commands use it.',
    'none: `DATABASE_URL` leads to PostgreSQL itself',
  ),
  databasePrepare: setting(
    'DATABASE_PREPARE',
    flag(),
    undefined,
    'Whether statements are prepared once for each connection. In transaction mode, PgBouncer takes prepared statements from version 1.21 on.',
    '`1`; `0` if `DATABASE_DIRECT_URL` is set',
  ),
  databaseMigrateUrl: setting(
    'DATABASE_MIGRATE_URL',
    databaseUrl(),
    undefined,
    'The same database with the role that owns its tables, used for migrations alone. `DATABASE_URL` can then have a role with fewer rights: see `docs/operating.md`.',
    '`DATABASE_DIRECT_URL` or `DATABASE_URL`',
  ),
  readDatabaseUrl: setting(
    'READ_DATABASE_URL',
    databaseUrl(),
    undefined,
    'A streaming replica of the same database, for lists, exports and statistics. It answers only if it has every event of the partner that asks; else, and whenever it is silent, the primary answers. It may name several hosts, or lead to a balancer of several replicas; through PgBouncer only if `DATABASE_DIRECT_URL` is set. See `docs/operating.md`.',
    'none: the primary answers everything',
  ),
  readMaxLagMs: setting(
    'READ_MAX_LAG_MS',
    integer(1_000, 300_000),
    5_000,
    'How far the replica of `READ_DATABASE_URL` may be behind the primary, in milliseconds. The primary answers while it is further behind. Set it on every node, or on none.',
  ),
  newerSchema: setting(
    'NEWER_SCHEMA',
    text(),
    undefined,
    'The last migration of a newer version, such as `0070_name.sql`: this older version starts on its database all the same. `deploy/update` sets it when it goes back: see `docs/deploying.md`.',
    'a database that a newer version has migrated is refused',
  ),
};
