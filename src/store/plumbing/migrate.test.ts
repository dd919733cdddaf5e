import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { connectTo, createEmptyDatabase, type TestDatabase } from '../../../test/database.ts';
import { migrate, migrationState } from './migrate.ts';

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
