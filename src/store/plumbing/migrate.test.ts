import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { connectTo, createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { migrate, migrationState, SchemaMismatchError } from './migrate.ts';

const log = pino({ level: 'silent' });

describe('nodes that start together on an empty database', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createEmptyDatabase();
  });
  after(() => database.drop());

  it('do not block the one that builds an index while they wait for it', async () => {
    const sql = connectTo(database.url);
    // PostgreSQL looks for deadlocks after 10 ms of waiting instead of a second.
    await sql`do $$ begin execute format('alter database %I set deadlock_timeout = 10', current_database()); end $$`;
    await Promise.all([1, 2, 3].map(() => migrate({ log }, database.url)));
    assert.deepEqual((await migrationState(sql)).missing, []);
    await sql.end();
  });
});

describe('a database that a newer version has migrated', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createTestDatabase();
  });
  after(() => database.drop());

  const newer = async (...names: string[]) => {
    const sql = connectTo(database.url);
    await sql`delete from migrations where sha256 = 'newer'`;
    for (const [index, name] of names.entries()) {
      await sql`insert into migrations (id, name, sha256) values (${9_001 + index}, ${name}, 'newer')`;
    }
    await sql.end();
  };
  const start = (newest?: string) => migrate({ log }, database.url, newest);

  it('is refused', async () => {
    await newer('9001_one.sql', '9002_two.sql');
    await assert.rejects(start(), /newer version of Till \(it has 9002_two\.sql\): start that version instead\.$/);
  });

  it('is accepted by the operator who goes back, up to the migration that is named', async () => {
    await newer('9001_one.sql', '9002_two.sql');
    await start('9002_two.sql');
    await start('9003_three.sql');
    await assert.rejects(start('9001_one.sql'), SchemaMismatchError);
    await assert.rejects(start('nonsense'), SchemaMismatchError);
  });

  it('is never accepted after a migration that leaves no way back', async () => {
    await newer('9001_one_way_names.sql', '9002_two.sql');
    await assert.rejects(start('9002_two.sql'), /cannot run after 9001_one_way_names\.sql: start that version\.$/);
  });
});

describe('a role without rights', () => {
  it('is named as such, and not as a missing schema, where the tables are there', async () => {
    const database = await createTestDatabase();
    const sql = connectTo(database.url);
    const role = `outsider_${process.pid}`;
    await sql.unsafe(`create role ${role} login password 'hunter2'`);
    const url = Object.assign(new URL(database.url), { username: role, password: 'hunter2' });
    try {
      await assert.rejects(migrate({ log }, url.href), {
        message:
          'The role of DATABASE_URL may not read the tables of the gateway: use the role till_run of `npm run till -- database roles --apply`, or the owner of the tables.',
      });
    } finally {
      await sql.unsafe(`drop role ${role}`);
      await sql.end();
      await database.drop();
    }
  });
});
