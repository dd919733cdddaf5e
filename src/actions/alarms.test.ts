import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { REGISTRY } from '../../test/registry.ts';
import { ALERT_NAMES } from '../domain/alert.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { listAlerts } from '../store/plumbing/alerts.ts';
import { type Database, openDatabase } from '../store/plumbing/database.ts';
import { type AlarmOptions, createAlarms } from './alarms.ts';

const MINUTE_MS = 60_000;

describe('an alarm', () => {
  let database: TestDatabase;
  let db: Database;
  before(async () => {
    database = await createTestDatabase();
    db = openDatabase({ url: database.url, poolSize: 4, applicationName: 'till-test' });
  });
  after(async () => {
    await db.close();
    await database.drop();
  });

  let nowMs = Date.UTC(2026, 2, 1);
  let alarmCount = 0;
  /** The same alarm on as many nodes as are asked for, and the number of transactions each has begun. */
  function onNodes(options: AlarmOptions = {}) {
    alarmCount += 1;
    const name = ALERT_NAMES[alarmCount] ?? 'job_failing';
    const start = () => {
      const node = { writes: 0 };
      const counting: Database = {
        ...db,
        begin: (random, work) => {
          node.writes += 1;
          return db.begin(random, work);
        },
      };
      const world = { ...systemWorld, clock: { nowMs: () => nowMs } };
      const alarms = createAlarms(
        { registry: REGISTRY, db: counting, world, log: pino({ level: 'silent' }) },
        name,
        options,
      );
      return { node, set: (message?: string) => alarms.set('subject', message) };
    };
    const shown = async () => (await listAlerts(db.sql)).find((alert) => alert.name === name)?.message;
    return { start, shown };
  }

  it('is cleared by a node that had cleared it before another one raised it and died', async () => {
    const { start, shown } = onNodes();
    const [a, b] = [start(), start()];
    await a.set();
    await b.set('broken');
    await a.set();
    nowMs += MINUTE_MS;
    await a.set();
    assert.equal(await shown(), undefined);
  });

  it('is raised again by a node that had raised it, when another one has cleared it', async () => {
    const { start, shown } = onNodes();
    const [a, b] = [start(), start()];
    await a.set('broken');
    await b.set();
    assert.equal(await shown(), undefined);
    nowMs += MINUTE_MS;
    await a.set('broken');
    assert.equal(await shown(), 'broken');
  });

  it('is written once a minute however often the condition is checked', async () => {
    const { start } = onNodes();
    const { set, node } = start();
    for (const message of [undefined, 'broken']) {
      node.writes = 0;
      for (let second = 0; second < 120; second += 1) {
        await set(message);
        nowMs += 1_000;
      }
      assert.equal(node.writes, 2);
    }
  });

  it('is raised and cleared at once when the condition changes', async () => {
    const { start, shown } = onNodes();
    const { set } = start();
    for (const message of ['broken', undefined, 'broken again', undefined]) {
      await set(message);
      assert.equal(await shown(), message);
    }
  });

  it('of a per-node condition stays raised while any node sees it, and ends with the last one', async () => {
    const { start, shown } = onNodes({ isPerNode: true });
    const [well, broken] = [start(), start()];
    for (let minute = 0; minute < 5; minute += 1) {
      await well.set();
      await broken.set('broken');
      await well.set();
      assert.equal(await shown(), 'broken');
      nowMs += MINUTE_MS;
    }
    await broken.set();
    assert.equal(await shown(), undefined);
  });

  it('of a per-node condition is cleared by another node soon after its node died', async () => {
    const { start, shown } = onNodes({ isPerNode: true });
    const [well, broken] = [start(), start()];
    await broken.set('broken');
    for (let minute = 0; minute < 4; minute += 1) {
      await well.set();
      nowMs += MINUTE_MS;
    }
    assert.equal(await shown(), undefined);
  });
});
