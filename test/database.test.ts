import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openDatabase } from '../src/store/plumbing/database.ts';
import { connectTo, createTestDatabase } from './database.ts';

const STATE_QUERY = 'select count(*)::int as partners from partners';
const ADD = `insert into partners (id, name, pinned_version, created_at) values ('prtn_x', 'X', '2026-02-18', now())`;

describe('a database of a test', () => {
  it('is as new for the next test, also if that gets its connection', async () => {
    const first = await createTestDatabase();
    const sql = connectTo(first.url);
    await sql.unsafe(ADD);
    await sql.unsafe('set session_replication_role = replica');
    await sql.unsafe('select pg_advisory_lock(1)');
    const [before] = await sql.unsafe(STATE_QUERY);
    const batches = await sql.unsafe(`select nextval('outbox_batch_seq') as batch`);
    await sql.end();
    await first.drop();

    const second = await createTestDatabase();
    const again = connectTo(second.url);
    assert.equal(second.url, first.url);
    assert.deepEqual(await again.unsafe(STATE_QUERY), [{ ...before, partners: 0 }]);
    assert.deepEqual(await again.unsafe('show session_replication_role'), [{ session_replication_role: 'origin' }]);
    assert.deepEqual(await again.unsafe('select pg_advisory_unlock(1) as "wasHeld"'), [{ wasHeld: false }]);
    assert.deepEqual(await again.unsafe(`select nextval('outbox_batch_seq') as batch`), batches);
    assert.equal((await again.unsafe('select from migrations')).length > 40, true);
    await again.end();
    await second.drop();
  });

  for (const [what, change] of [
    ['a column was added', 'alter table partners add column x int'],
    ['a trigger was switched off', 'alter table audit_log disable trigger audit_log_append_only'],
    ['a right was granted', 'grant select on partners to public'],
    ['a function was replaced', 'alter function refuse_change() cost 10'],
    ['it has statistics', `${ADD}; analyze partners`],
  ] as const) {
    it(`is not used again when ${what}`, async () => {
      const first = await createTestDatabase();
      const sql = connectTo(first.url);
      await sql.unsafe(change);
      await sql.end();
      await first.drop();
      const second = await createTestDatabase();
      assert.notEqual(second.url, first.url);
      await second.drop();
    });
  }

  it('is not used again while somebody is connected, whose connection is cut', async () => {
    const first = await createTestDatabase();
    const leftOpen = openDatabase({ url: first.url, poolSize: 1, applicationName: 'till-test' });
    await leftOpen.sql`select 1`;
    await first.drop();
    const second = await createTestDatabase();
    assert.notEqual(second.url, first.url);
    await assert.rejects(leftOpen.sql`select 1`);
    await Promise.all([leftOpen.close(), second.drop()]);
  });
});
