import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { REGISTRY } from '../../test/registry.ts';
import { until } from '../../test/until.ts';
import { raiseAlert } from '../actions/alerts.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { systemWorld } from '../runtime/system-world.ts';
import { listAlerts } from '../store/plumbing/alerts.ts';
import { type Database, openDatabase } from '../store/plumbing/database.ts';
import { startJobs } from './loop.ts';

const HOUR_MS = 3_600_000;

describe('a job', () => {
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

  /** A node whose clock is that much ahead. */
  const nodeOf = (aheadMs = 0) => ({
    registry: REGISTRY,
    db,
    log: pino({ level: 'silent' }),
    metrics: createMetrics(),
    world: { ...systemWorld, clock: { nowMs: () => Date.now() + aheadMs } },
  });
  const alertOf = async (job: string) => (await listAlerts(db.sql)).find(({ subject }) => subject === job)?.message;

  it('that fails three times in a row raises an alert, which its first success clears', async () => {
    const state = { isBroken: true, runs: 0 };
    const run = async () => {
      state.runs += 1;
      if (state.isBroken) throw new Error('broken');
      return false;
    };
    const stop = startJobs(nodeOf(), [{ name: 'breaking', everyMs: 5, run }]);
    try {
      await until('it is raised', async () => (await alertOf('breaking')) !== undefined);
      assert.match((await alertOf('breaking')) ?? '', /^Job breaking failed \d+ times in a row\.$/);
      assert.ok(state.runs >= 3);
      state.isBroken = false;
      await until('it is cleared', async () => (await alertOf('breaking')) === undefined);
    } finally {
      await stop();
    }
  });

  it('that succeeds clears the alert of a node that died while it failed there', async () => {
    const alert = { name: 'job_failing', subject: 'left', message: 'Job left failed 3 times in a row.' } as const;
    await raiseAlert(nodeOf(), alert);
    const stop = startJobs(nodeOf(HOUR_MS), [{ name: 'left', everyMs: 5, run: async () => false }]);
    try {
      await until('it is cleared', async () => (await alertOf('left')) === undefined);
    } finally {
      await stop();
    }
  });
});
