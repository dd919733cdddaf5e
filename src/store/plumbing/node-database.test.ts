import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { createEmptyDatabase, type TestDatabase } from '../../../test/database.ts';
import { systemWorld } from '../../runtime/system-world.ts';
import { databaseFault } from './database.ts';
import { type NodeDatabase, openNodeDatabase } from './node-database.ts';

describe('the database of a node', () => {
  let own: TestDatabase;
  before(async () => {
    own = await createEmptyDatabase();
  });
  after(() => own.drop());

  async function open(url: string): Promise<NodeDatabase> {
    const sizes = { poolSize: 2, listPoolSize: 2, listTimeoutMs: 1_000, readMaxLagMs: 1_000 };
    const clocks = { baseClock: systemWorld.clock, machineClock: systemWorld.clock };
    return openNodeDatabase({ url, applicationName: 'till-test', log: pino({ level: 'silent' }), ...sizes, ...clocks });
  }

  it('is opened with its clock set', async () => {
    const { db, clock, close } = await open(own.url);
    const [row] = await db.sql<{ now: Date }[]>`select clock_timestamp() as now`;
    assert.ok(Math.abs(clock.nowMs() - (row?.now.getTime() ?? 0)) < 1_000);
    await close();
  });

  it('that refuses the connection is opened too, and its first statement says why', async () => {
    const { db, close } = await open(Object.assign(new URL(own.url), { pathname: '/no_such_database' }).href);
    const error = await db.sql`select 1`.then(undefined, (reason: unknown) => reason);
    assert.equal(databaseFault(error), 'unavailable');
    assert.match(String(error), /no_such_database/);
    await close();
  });

  it('that cannot be reached at its first host is used at the next one', async () => {
    const { username, password, host, pathname } = new URL(own.url);
    const { db, listDb, close } = await open(`postgres://${username}:${password}@127.0.0.1:1,${host}${pathname}`);
    for (const { sql } of [db, listDb]) assert.equal((await sql`select 1 as one`)[0]?.one, 1);
    await close();
  });
});
