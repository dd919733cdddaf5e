import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createEmptyDatabase, type TestDatabase } from '../../../test/database.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../../../test/database-proxy.ts';
import { until } from '../../../test/until.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { type Database, databaseFault, openDatabase, savepoint } from './database.ts';
import type { Draft, Fragment, Statement } from './statement.ts';

const { random } = systemWorld;

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
      db.begin(random, async (tx) => {
        await tx`insert into notes values ('lost')`;
        await savepoint(tx, async (inner) => {
          await inner`insert into notes values ('lost too')`;
          await inner`select pg_sleep(60)`;
        });
      });
    assert.equal(await during(work), 'unavailable');
    await db.begin(random, async (tx) => {
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

describe('a single statement', () => {
  let own: TestDatabase;
  let db: Database;
  before(async () => {
    own = await createEmptyDatabase();
    db = openDatabase({ url: own.url, poolSize: 2, applicationName: 'till-test' });
    await db.sql`create table notes (text text)`;
  });
  after(async () => {
    await db.close();
    await own.drop();
  });
  const note = (draft: (sql: Draft) => Fragment): Statement<number> => ({
    draft,
    read: ({ count }) => count,
    appendsEvents: false,
  });
  const notes = async () => (await db.sql<{ text: string }[]>`select text from notes`).map(({ text }) => text);

  it('is carried out in a transaction of its own', async () => {
    const text = 'one';
    assert.equal(await db.single(note((sql) => sql`insert into notes values (${text}), (${sql`'two'`})`)), 2);
    assert.deepEqual(await notes(), ['one', 'two']);
    await assert.rejects(db.single(note((sql) => sql`insert into notes values ('three'), (1 / 0)`)));
    assert.deepEqual(await notes(), ['one', 'two']);
  });

  it('has no second one beside it: a draft runs nothing, and the returned one alone is run', async () => {
    const two = note((sql) => {
      sql`insert into notes values ('dropped')`;
      return sql`insert into notes values ('kept')`;
    });
    await db.single(two);
    assert.deepEqual(await notes(), ['one', 'two', 'kept']);
    // The compiler refuses what would run one: a draft cannot be awaited, and a function with a transaction is none.
    // @ts-expect-error Nothing that a draft makes has rows or a `then`.
    note((sql) => sql`select 1`.then(() => sql`select 2`));
    // @ts-expect-error A function that runs statements is no statement.
    assert.ok(() => db.single(async (tx) => tx`insert into notes values ('never')`));
  });

  it('cannot hold two commands', async () => {
    const two = note((sql) => sql`insert into notes values ('first'); insert into notes values ('second')`);
    await assert.rejects(db.single(two), { code: '42601' });
    assert.deepEqual(await notes(), ['one', 'two', 'kept']);
  });
});

describe('commits that append events', () => {
  let own: TestDatabase;
  let db: Database;
  let rings = 0;
  before(async () => {
    own = await createEmptyDatabase();
    db = openDatabase({ url: own.url, poolSize: 2, applicationName: 'till-test' });
    db.onEvents(() => {
      rings += 1;
    });
  });
  after(async () => {
    await db.close();
    await own.drop();
  });

  it('are told of after the commit, once each, and others are not', async () => {
    await db.begin(random, async (tx) => tx`select 1`);
    assert.equal(rings, 0);
    await db.begin(random, async (tx) => {
      await savepoint(tx, async (inner) => {
        inner.outbox.hasEvents = true;
      });
      assert.equal(rings, 0, 'not before the commit');
    });
    assert.equal(rings, 1);
    await assert.rejects(
      db.begin(random, async (tx) => {
        tx.outbox.hasEvents = true;
        throw new Error('rolled back');
      }),
    );
    assert.equal(rings, 1);
  });
});
