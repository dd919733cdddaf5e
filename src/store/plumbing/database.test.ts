import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { selfSignedCertificate } from '../../../test/certificate.ts';
import { createEmptyDatabase, type TestDatabase } from '../../../test/database.ts';
import { startTcpProxy, type TcpProxy } from '../../../test/tcp-proxy.ts';
import { until } from '../../../test/until.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { connectionSettings } from './connection.ts';
import { type Database, databaseFault, isDataFault, openDatabase, savepoint, type Tx } from './database.ts';
import type { Draft, Fragment, SingleStatement } from './single-statement.ts';

const { random } = systemWorld;

const APPLICATION = { applicationName: 'till-test' };
let own: TestDatabase;
before(async () => {
  own = await createEmptyDatabase();
});
after(() => own.drop());

const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: unknown) => databaseFault(error),
  );

describe('a statement', () => {
  let db: Database;
  before(() => {
    db = openDatabase({ url: own.url, poolSize: 2, ...APPLICATION });
  });
  after(() => db.close());

  it('carries every type of value to the server and back', async () => {
    const at = new Date('2026-02-18T01:02:03.456Z');
    const [row] = await db.sql`
      select ${at} as at, ${true} as yes, ${false} as no, ${null}::text as nothing, ${7}::int as int,
        ${'9007199254740993'}::bigint as big, ${12345678901234567890n}::numeric as exact,
        ${'0.10'}::numeric as decimal, ${Buffer.from([0, 255, 7])} as bytes,
        ${db.sql.json({ a: [1, null, "it's"] })} as json, ${'ünï ☃'}::text as text`;
    assert.deepEqual(row, {
      at,
      yes: true,
      no: false,
      nothing: null,
      int: 7,
      big: '9007199254740993',
      exact: '12345678901234567890',
      decimal: '0.10',
      bytes: Buffer.from([0, 255, 7]),
      json: { a: [1, null, "it's"] },
      text: 'ünï ☃',
    });
  });

  it('carries arrays of text whatever is in them', async () => {
    const items = ['plain', '', 'null', 'a,b', '{}', '"quoted"', 'back\\slash', "it's", ' space ', 'line\nbreak', null];
    const [row] = await db.sql`select to_json(${items}::text[]) as items, cardinality(${[]}::text[]) as none`;
    assert.deepEqual(row, { items, none: 0 });
  });

  it('takes no value for text, however it is spelled', async () => {
    const rows = await db.sql`select ${"'; drop table notes; --"}::text as text`;
    assert.equal(rows[0]?.text, "'; drop table notes; --");
  });

  it('is refused when a value is missing, and is not sent with a null', async () => {
    const missing = undefined as unknown as string;
    await assert.rejects(async () => db.sql`select ${missing}::text`, TypeError);
  });

  it('is put together from parts, with their values in order', async () => {
    const { sql } = db;
    const isBetween = (low: number, high: number) => sql`n between ${low} and ${high}`;
    const rows = await sql<{ n: number }[]>`
      select n from generate_series(1, ${9}::int) n
      where ${isBetween(2, 7)} and ${sql`n % ${2} = ${0}`} ${sql``} order by n ${sql`desc`} limit ${2}`;
    assert.deepEqual(
      rows.map(({ n }) => n),
      [6, 4],
    );
    assert.equal(rows.count, 2);
  });

  it('is sent once, and only when it is awaited', async () => {
    await db.sql`create sequence ids`;
    const next = db.sql<{ id: string }[]>`select nextval('ids') as id`;
    const unsent = db.sql`select nextval('ids')`;
    assert.deepEqual([(await next)[0]?.id, (await next)[0]?.id], ['1', '1']);
    assert.equal((await unsent)[0]?.nextval, '2');
    await db.sql`drop sequence ids`;
  });

  it('says how many rows it changed', async () => {
    await db.sql`create table counted (n int)`;
    assert.equal((await db.sql`insert into counted select generate_series(1, 5)`).count, 5);
    assert.equal((await db.sql`delete from counted where n > 3`).count, 2);
    assert.equal((await db.sql`drop table counted`).count, 0);
  });

  it('that the server refuses leaves its connection in use', async () => {
    const one = openDatabase({ url: own.url, poolSize: 1, ...APPLICATION });
    const pid = async () => (await one.sql`select pg_backend_pid() as pid`)[0]?.pid;
    const before = await pid();
    const error = await one.sql`select ${'x'}::int`.catch((reason: unknown) => reason);
    assert.ok(isDataFault(error));
    assert.equal(await pid(), before);
    await one.close();
  });

  it('that a server refuses because it is no primary any more gives up the connection', async () => {
    const one = openDatabase({ url: own.url, poolSize: 1, ...APPLICATION });
    const pid = async () => (await one.sql`select pg_backend_pid() as pid`)[0]?.pid;
    const before = await pid();
    await one.sql`set default_transaction_read_only = on`;
    assert.equal(await faultOf(one.sql`create table written ()`), 'unavailable');
    assert.notEqual(await pid(), before);
    assert.equal(await faultOf(one.sql`create table written ()`), 'none');
    await one.sql`drop table written`;
    await one.close();
  });

  it('that fails because the server has no room or a broken disk can be sent again', async () => {
    for (const condition of ['disk_full', 'out_of_memory', 'too_many_connections', 'io_error']) {
      const raise = `do $$ begin raise exception using errcode = '${condition}'; end $$`;
      assert.equal(await faultOf(db.sql.unsafe(raise)), 'unavailable', condition);
    }
  });

  it('is prepared again when a migration has changed the type of a column', async () => {
    await db.sql`create table migrated (n int)`;
    await db.sql`insert into migrated values (1)`;
    const read = () => db.sql`select n from migrated`;
    // On both connections.
    await Promise.all([read(), read()]);
    await db.sql`alter table migrated alter column n type bigint`;
    assert.deepEqual([...(await read()), ...(await read())], [{ n: '1' }, { n: '1' }]);
    await db.sql`alter table migrated alter column n type text`;
    const inTransaction = () => db.begin(random, (tx) => tx`select n from migrated`);
    assert.equal(await faultOf(inTransaction()), 'conflict', 'the command runs again');
    assert.deepEqual([...(await inTransaction())], [{ n: '1' }]);
    await db.sql`drop table migrated`;
  });

  it('that is asked for after the database was closed fails', async () => {
    const closed = openDatabase({ url: own.url, poolSize: 1, ...APPLICATION });
    await closed.sql`select 1`;
    await Promise.all([closed.close(), closed.close()]);
    assert.equal(await faultOf(closed.sql`select 1`), 'unavailable');
  });

  it('ends with the database when that is closed', async () => {
    const closed = openDatabase({ url: own.url, poolSize: 1, ...APPLICATION });
    await closed.sql`select 1`;
    const running = faultOf(closed.sql`select pg_sleep(60)`);
    const sleepers = () =>
      db.sql`select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`;
    await until('the statement runs', async () => (await sleepers()).length === 1);
    await closed.close();
    assert.equal(await running, 'unavailable');
  });
});

describe('a transaction', () => {
  let db: Database;
  before(async () => {
    db = openDatabase({ url: own.url, poolSize: 2, ...APPLICATION });
    await db.sql`create table kept (text text)`;
  });
  after(() => db.close());
  const kept = async () =>
    (await db.sql<{ text: string }[]>`select text from kept order by text`).map((row) => row.text);
  const empty = () => db.sql`delete from kept`;

  it('is taken back whole when its work fails', async () => {
    const work = db.begin(random, async (tx) => {
      await tx`insert into kept values ('a')`;
      throw new RangeError('no');
    });
    await assert.rejects(work, RangeError);
    assert.deepEqual(await kept(), []);
  });

  it('never succeeds when one of its statements has failed, even if the work went on', async () => {
    const work = db.begin(random, async (tx) => {
      await tx`insert into kept values ('a')`;
      await tx`select 1 / 0`.catch(() => {});
    });
    await assert.rejects(work);
    assert.deepEqual(await kept(), []);
  });

  it('continues after a rollback to a savepoint', async () => {
    await db.begin(random, async (tx) => {
      await tx`insert into kept values ('a')`;
      const part = savepoint(tx, async (inner) => {
        await inner`insert into kept values ('b')`;
        await savepoint(inner, (innermost) => innermost`insert into kept values ('c')`);
        await inner`select 1 / 0`;
      });
      await assert.rejects(part, { code: '22012' });
      await savepoint(tx, (inner) => inner`insert into kept values ('d')`);
    });
    assert.deepEqual(await kept(), ['a', 'd']);
    await empty();
  });

  it('sends statements in order when they are asked for at the same time', async () => {
    await db.begin(random, async (tx) => {
      await Promise.all([
        tx`insert into kept values ('a')`,
        tx`update kept set text = text || 'b'`,
        tx`update kept set text = text || 'c'`,
      ]);
    });
    assert.deepEqual(await kept(), ['abc']);
    await empty();
  });

  it('commits statements that its work did not await', async () => {
    await db.begin(random, async (tx) => {
      void tx`insert into kept values ('a')`.then();
    });
    assert.deepEqual(await kept(), ['a']);
    await empty();
  });

  it('takes no statement once it is over', async () => {
    const insert = (tx: Tx) => tx`insert into kept values ('late')`;
    const late = await db.begin(random, async (tx) => () => insert(tx));
    await assert.rejects(async () => late(), /over/);
    assert.deepEqual(await kept(), []);
  });
});

const KINDS = ['plain', 'TLS'] as const;
async function startProxy(kind: (typeof KINDS)[number]): Promise<TcpProxy> {
  if (kind === 'plain') return startTcpProxy(own.url);
  const proxy = await startTcpProxy(own.url, { certificate: selfSignedCertificate() });
  return { ...proxy, url: `${proxy.url}?sslmode=require` };
}

for (const kind of KINDS) {
  // One connection, so that the next statement shows what a loss has left behind.
  describe(`a lost connection (${kind})`, () => {
    let proxy: TcpProxy;
    let db: Database;
    before(async () => {
      proxy = await startProxy(kind);
      db = openDatabase({ url: proxy.url, poolSize: 1, ...APPLICATION });
      await db.sql`create table notes (text text)`;
    });
    after(async () => {
      await db.sql`drop table notes`;
      await db.close();
      await proxy.cut();
    });

    const count = async () => Number((await db.sql`select count(*) from notes`)[0]?.count);
    /** Breaks the connection while it is busy, and returns what the work ends with. */
    async function during(work: () => Promise<unknown>): Promise<unknown> {
      const ended = faultOf(work());
      let isOver = false;
      void ended.finally(() => {
        isOver = true;
      });
      // Once the work has ended nothing more is broken: the rest of the test is about the next connection.
      await until('the work ends', () => {
        if (!isOver) proxy.reset();
        return isOver;
      });
      return ended;
    }

    it('fails its statement, and the next statement gets a new connection', async () => {
      assert.equal(await during(() => db.sql`select pg_sleep(60)`), 'unavailable');
      assert.equal(await count(), 0);
    });

    it('fails a statement that is sent at that very moment too', async () => {
      const late: Promise<unknown>[] = [];
      const first = () =>
        db.sql`select pg_sleep(60)`.catch((error: unknown) => {
          late.push(faultOf(db.sql`insert into notes values ('late')`));
          throw error;
        });
      assert.equal(await during(first), 'unavailable');
      const [how] = await Promise.all(late);
      assert.equal(await count(), how === 'none' ? 1 : 0, 'it was carried out or refused, and the answer said which');
      await db.sql`delete from notes`;
      assert.equal(await count(), 0);
    });

    it('takes a transaction with it, and no part of that goes over the next connection', async () => {
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

    it('is replaced when it broke while idle', async () => {
      assert.equal(await count(), 0);
      proxy.reset();
      await until('statements work', async () => (await faultOf(db.sql`select 1`)) === 'none');
    });

    it('fails every statement while the server is away, and is replaced when it is back', async () => {
      await proxy.cut();
      const failed = await Promise.all(Array.from({ length: 5 }, () => faultOf(db.sql`select 1`)));
      assert.deepEqual(new Set(failed), new Set(['unavailable']));
      await proxy.restore();
      await until('statements work', async () => (await faultOf(db.sql`select 1`)) === 'none');
      assert.equal(await count(), 0);
    });

    it('brings messages again when it has come back', async () => {
      const received: string[] = [];
      let connected = 0;
      await db.listen('news', {
        onMessage: (text) => received.push(text),
        onConnected: () => {
          connected += 1;
        },
      });
      assert.equal(connected, 1);
      await db.sql`select pg_notify('news', 'first')`;
      await until('the first message', () => received.length === 1);
      proxy.reset();
      await until('it listens again', () => connected === 2);
      await until(
        'a message is sent',
        async () => (await faultOf(db.sql`select pg_notify('news', 'second')`)) === 'none',
      );
      await until('the second message', () => received.length === 2);
      assert.deepEqual(received, ['first', 'second']);
    });
  });
}

describe('a wait', { concurrency: true }, () => {
  for (const kind of KINDS) {
    it(`for a server that is silent has an end, and the next connection works (${kind})`, async () => {
      const proxy = await startProxy(kind);
      // An answer that takes a second longer than this never comes.
      const db = openDatabase({ url: proxy.url, poolSize: 2, ...APPLICATION, statementTimeoutMs: 1_000 });
      await Promise.all([db.sql`select pg_sleep(0.1)`, db.sql`select pg_sleep(0.1)`]);
      proxy.stall();
      const write = (tx: Tx) => tx`create table unheard ()`;
      const single = { draft: (sql: Draft) => sql`create table unheard ()`, read: () => {}, appendsEvents: false };
      assert.deepEqual(await Promise.all([faultOf(db.single(single)), faultOf(db.begin(random, write))]), [
        'unavailable',
        'unavailable',
      ]);
      const [row] = await db.sql`select to_regclass('unheard') as found`;
      assert.equal(row?.found, null);
      await db.close();
      await proxy.cut();
    });
  }

  it('for a connection has an end, when all are in use', async () => {
    const db = openDatabase({ url: own.url, poolSize: 1, ...APPLICATION });
    await db.begin(random, async () => {
      assert.equal(await faultOf(db.sql`select 1`), 'unavailable');
    });
    assert.equal(await faultOf(db.sql`select 1`), 'none');
    await db.close();
  });
});

describe('the way to the server', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'till-way-'));
  });
  after(() => rm(folder, { recursive: true }));
  const answers = async (url: string) => {
    const db = openDatabase({ url, poolSize: 1, ...APPLICATION });
    try {
      return await faultOf(db.sql`select 1`);
    } finally {
      await db.close();
    }
  };

  it('waits for a connection as long as its URL says: 5 s by default, for ever with 0', () => {
    const waitMs = (search: string) =>
      connectionSettings({ url: `postgres://host/till${search}`, ...APPLICATION }).connectionTimeoutMillis;
    assert.deepEqual(
      ['', '?connect_timeout=7', '?connect_timeout=0', '?connect_timeout=soon'].map(waitMs),
      [5_000, 7_000, 0, 5_000],
    );
  });

  it('is encrypted with sslmode=require, and also checked with sslmode=verify-full', async () => {
    const certificate = selfSignedCertificate();
    const proxy = await startTcpProxy(own.url, { certificate });
    const root = join(folder, 'root.crt');
    await writeFile(root, certificate.cert);
    const named = proxy.url.replace('127.0.0.1', 'localhost');
    assert.equal(await answers(`${named}?sslmode=require`), 'none');
    assert.equal(await answers(`${named}?sslmode=verify-full`), 'unavailable', 'nobody vouches for it');
    assert.equal(await answers(`${named}?sslmode=verify-full&sslrootcert=${root}`), 'none');
    assert.equal(await answers(`${proxy.url}?sslmode=verify-full&sslrootcert=${root}`), 'unavailable', 'another name');
    assert.equal(await answers(`${own.url}?sslmode=require`), 'unavailable', 'a server without TLS');
    await proxy.cut();
  });

  it('may be a Unix socket', async () => {
    const { hostname, port, username, password, pathname } = new URL(own.url);
    const server = createServer((client) => {
      const upstream = dial(Number(port), hostname);
      client.pipe(upstream).pipe(client);
    }).listen(join(folder, '.s.PGSQL.5432'));
    assert.equal(await answers(`postgres://${pathname}?host=${folder}&user=${username}&password=${password}`), 'none');
    server.close();
  });

  it('keeps the limits and the durability of this gateway, whatever the URL and the server say', async () => {
    const url = `${own.url}?statement_timeout=0&application_name=other&options=${encodeURIComponent('-c work_mem=5MB')}`;
    const db = openDatabase({ url, poolSize: 1, ...APPLICATION });
    const [row] = await db.sql`
      select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
        current_setting('idle_in_transaction_session_timeout') as idle, current_setting('synchronous_commit') as durable,
        current_setting('work_mem') as memory, current_setting('application_name') as name`;
    await db.close();
    assert.deepEqual(row, {
      statement: '15s',
      lock: '5s',
      idle: '15s',
      durable: 'on',
      memory: '5MB',
      name: 'till-test',
    });
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
  const note = (draft: (sql: Draft) => Fragment): SingleStatement<number> => ({
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

  it('are announced after the commit, once each, and others are not', async () => {
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
