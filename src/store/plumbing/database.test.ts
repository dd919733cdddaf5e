import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createEmptyDatabase, type TestDatabase } from '../../../test/database.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../../../test/database-proxy.ts';
import { until } from '../../../test/until.ts';
import { type Database, databaseFault, openDatabase, savepoint } from './database.ts';

// One connection, so that whatever a loss does to it is seen by the next statement.
describe('a lost connection', () => {
  let own: TestDatabase;
  let proxy: DatabaseProxy;
  let db: Database;
  before(async () => {
    own = await createEmptyDatabase();
    proxy = await startDatabaseProxy(own.url);
    db = openDatabase({ url: proxy.url, poolSize: 1, applicationName: 'till-test' });
    await db.sql`create table notes (text text)`;
  });
  after(async () => {
    await db.close();
    await proxy.cut();
    await own.drop();
  });

  const fault = (work: Promise<unknown>) =>
    work.then(
      () => 'none',
      (error: unknown) => databaseFault(error),
    );
  const count = async () => Number((await db.sql`select count(*) from notes`)[0]?.count);
  /** Breaks the connection while it is busy, and gives what the work then ends with. */
  async function during(work: () => Promise<unknown>): Promise<unknown> {
    const ended = fault(work());
    let isOver = false;
    void ended.finally(() => {
      isOver = true;
    });
    // Once it has ended, nothing more is broken: what follows is about the connections after it.
    await until('the work ends', () => {
      if (!isOver) proxy.reset();
      return isOver;
    });
    return ended;
  }

  it('is told as such, and the next statement gets a new one', async () => {
    assert.equal(await during(() => db.sql`select pg_sleep(60)`), 'unavailable');
    assert.equal(await count(), 0);
  });

  it('is told to a statement that is sent at that very moment too', async () => {
    const late: Promise<unknown>[] = [];
    const first = () =>
      db.sql`select pg_sleep(60)`.catch((error: unknown) => {
        late.push(fault(db.sql`insert into notes values ('late')`));
        throw error;
      });
    assert.equal(await during(first), 'unavailable');
    const [how] = await Promise.all(late);
    assert.equal(await count(), how === 'none' ? 1 : 0, 'it was done or it was refused, and which of the two was told');
    await db.sql`delete from notes`;
    assert.equal(await count(), 0);
  });

  it('takes a transaction with it, and sends no part of it over the next one', async () => {
    const work = () =>
      db.begin(async (tx) => {
        await tx`insert into notes values ('lost')`;
        await savepoint(tx, async (inner) => {
          await inner`insert into notes values ('lost too')`;
          await inner`select pg_sleep(60)`;
        });
      });
    assert.equal(await during(work), 'unavailable');
    await db.begin(async (tx) => {
      await tx`insert into notes values ('kept')`;
      assert.equal(await tx`select text from notes`.then((rows) => rows.length), 1);
    });
    assert.equal(await count(), 1);
    await db.sql`delete from notes`;
  });

  it('for longer is told to every statement, and ends by itself', async () => {
    await proxy.cut();
    const failed = await Promise.all(Array.from({ length: 5 }, () => fault(db.sql`select 1`)));
    assert.deepEqual(new Set(failed), new Set(['unavailable']));
    await proxy.restore();
    await until('statements work', async () => (await fault(db.sql`select 1`)) === 'none');
    assert.equal(await count(), 0);
  });
});
