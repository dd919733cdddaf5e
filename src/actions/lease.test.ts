import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { type ManualTime, manualTime } from '../../test/manual-time.ts';
import { REGISTRY } from '../../test/registry.ts';
import { until } from '../../test/until.ts';
import { shiftClock } from '../runtime/shifted-clock.ts';
import { systemWorld } from '../runtime/system-world.ts';
import type { Timers } from '../runtime/world.ts';
import { type Database, openDatabase } from '../store/plumbing/database.ts';
import type { Lease } from '../store/plumbing/leases.ts';
import { commandOfLeader, LeaseLostError, whileLeading } from './lease.ts';

const never = new AbortController().signal;

/** Sleep in manual time that a signal ends. */
function sleepOf({ timers }: ManualTime): Timers['sleep'] {
  return (delayMs, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      timers.after(delayMs, resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
}

describe('a lease', () => {
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

  const node = (holder: string, time = manualTime()) => ({
    registry: REGISTRY,
    db,
    holder,
    log: pino({ level: 'silent' }),
    world: { ...systemWorld, clock: time.clock, timers: { ...time.timers, sleep: sleepOf(time) } },
  });

  /** Leads until told to end, or until it has to. */
  function lead(deps: ReturnType<typeof node>, name: string) {
    const end = Promise.withResolvers<void>();
    const started = Promise.withResolvers<{ lease: Lease; signal: AbortSignal }>();
    const done = whileLeading(deps, name, never, async (lease, signal) => {
      started.resolve({ lease, signal });
      signal.addEventListener('abort', () => end.resolve());
      await end.promise;
    });
    return { started: started.promise, done, end: () => end.resolve() };
  }

  it('is held by one node at a time, and free as soon as that one ends', async () => {
    const first = lead(node('a'), 'one');
    const { lease } = await first.started;
    assert.equal(await whileLeading(node('b'), 'one', never, async () => {}), false);
    first.end();
    assert.equal(await first.done, true);
    const second = lead(node('b'), 'one');
    assert.equal((await second.started).lease.fencing, lease.fencing + 1);
    second.end();
    await second.done;
  });

  it('is free at once when its holder is asked to stop, while a round is still under way', async () => {
    const stop = new AbortController();
    const round = Promise.withResolvers<void>();
    const started = Promise.withResolvers<Lease>();
    const first = whileLeading(node('a'), 'stopped', stop.signal, (lease) => {
      started.resolve(lease);
      return round.promise;
    });
    const lease = await started.promise;
    stop.abort();
    const second = node('b');
    let next: Lease | undefined;
    await until('the next node leads', () =>
      whileLeading(second, 'stopped', never, async (taken) => {
        next = taken;
      }),
    );
    assert.equal(next?.fencing, lease.fencing + 1);
    await assert.rejects(
      commandOfLeader(second, lease, async () => {}),
      LeaseLostError,
    );
    round.resolve();
    assert.equal(await first, true);
  });

  it('is renewed while its holder lives', async () => {
    const time = manualTime();
    const first = lead(node('a', time), 'renewed');
    await first.started;
    const endOf = async () =>
      (await db.sql<{ until: Date }[]>`select until from leases where name = 'renewed'`)[0]?.until;
    const before = await endOf();
    await time.advance(3_000);
    await until('it is renewed', async () => (await endOf())?.getTime() === (before?.getTime() ?? 0) + 3_000);
    first.end();
    await time.advance(3_000);
    await first.done;
  });

  it('passes on when its holder is silent for too long, and the old holder’s writes are refused', async () => {
    const silent = lead(node('a'), 'silent');
    const { lease } = await silent.started;
    const later = manualTime(Date.UTC(2026, 2, 1) + 11_000);
    const second = lead(node('b', later), 'silent');
    const taken = await second.started;
    const write = (held: Lease) => commandOfLeader(node('x'), held, async (tx) => tx`select 1 as done`);
    await assert.rejects(write(lease), LeaseLostError);
    assert.equal((await write(taken.lease)).length, 1);
    silent.end();
    await silent.done;
    // The old holder's farewell does not end the new one's lease.
    assert.equal((await write(taken.lease)).length, 1);
    second.end();
    await second.done;
  });

  it('notifies its holder when it is lost', async () => {
    const time = manualTime();
    const first = lead(node('a', time), 'lost');
    const { signal } = await first.started;
    const second = lead(node('b', manualTime(Date.UTC(2026, 2, 1) + 11_000)), 'lost');
    await second.started;
    await time.advance(3_000);
    await first.done;
    assert.ok(signal.aborted);
    second.end();
    await second.done;
  });

  it('is in real time: a sandbox whose clock is a month ahead neither takes it nor loses it', async () => {
    const time = manualTime();
    const ahead = node('a', time);
    const clock = shiftClock(time.clock, () => 30 * 86_400_000);
    const shifted = { ...ahead, world: { ...ahead.world, clock } };
    const here = lead(node('b', time), 'shifted');
    await here.started;
    assert.equal(await whileLeading(shifted, 'shifted', never, async () => {}), false);
    here.end();
    await here.done;
    const there = lead(shifted, 'shifted');
    await there.started;
    assert.equal(await whileLeading(node('b', time), 'shifted', never, async () => {}), false);
    there.end();
    await there.done;
  });
});
