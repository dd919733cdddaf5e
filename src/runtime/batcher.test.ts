import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { type BatcherInput, createBatcher } from './batcher.ts';
import { systemWorld } from './system-world.ts';
import type { Timers } from './world.ts';

/** A batcher whose batches end when the test says so. */
function controlled(input: Partial<BatcherInput<number, string>> = {}, timers: Timers = systemWorld.timers) {
  const batches: number[][] = [];
  const running: { items: readonly number[]; end: (error?: Error) => void }[] = [];
  let most = 0;
  const add = createBatcher<number, string>(
    { timers },
    {
      run: (items) =>
        new Promise((resolve, reject) => {
          batches.push([...items]);
          const end = (error?: Error) => {
            running.splice(running.indexOf(batch), 1);
            if (error === undefined) resolve(items.map((item) => `done ${item}`));
            else reject(error);
          };
          const batch = { items, end };
          running.push(batch);
          most = Math.max(most, running.length);
        }),
      maxItems: 4,
      maxConcurrent: 1,
      isItemsFault: () => false,
      ...input,
    },
  );
  return {
    add,
    batches,
    /** Lets what is scheduled begin. */
    settle: async () => {
      for (let turn = 0; turn < 4; turn += 1) await nextTurn();
    },
    endFirst: (error?: Error) => running[0]?.end(error),
    running: () => running.length,
    mostAtOnce: () => most,
  };
}

describe('a batcher', () => {
  it('sends a lone item on without waiting for company', async () => {
    const { add, batches, settle, endFirst } = controlled();
    const result = add(1);
    await settle();
    assert.deepEqual(batches, [[1]]);
    endFirst();
    assert.equal(await result, 'done 1');
  });

  it('batches items that arrive together or during a running batch, never more than its maximum, in order', async () => {
    const { add, batches, settle, endFirst } = controlled();
    const results = [add(1), add(2)];
    await settle();
    for (const item of [3, 4, 5, 6, 7, 8]) results.push(add(item));
    await settle();
    assert.deepEqual(batches, [[1, 2]], 'the others wait');
    for (let rounds = 0; rounds < 3; rounds += 1) {
      endFirst();
      await settle();
    }
    assert.deepEqual(batches, [
      [1, 2],
      [3, 4, 5, 6],
      [7, 8],
    ]);
    assert.deepEqual(
      await Promise.all(results),
      [1, 2, 3, 4, 5, 6, 7, 8].map((item) => `done ${item}`),
    );
  });

  it('runs no more batches at once than it may', async () => {
    const { add, batches, settle, endFirst, running, mostAtOnce } = controlled({ maxItems: 2, maxConcurrent: 3 });
    const results = Array.from({ length: 20 }, (_, item) => add(item));
    await settle();
    assert.equal(running(), 3);
    while (running() > 0) {
      endFirst();
      await settle();
    }
    assert.equal(mostAtOnce(), 3);
    assert.equal(batches.length, 10);
    assert.deepEqual(
      await Promise.all(results),
      results.map((_, item) => `done ${item}`),
    );
  });

  it('gives the error of a batch to each of its items, and continues', async () => {
    const { add, batches, settle, endFirst } = controlled();
    const results = Promise.allSettled([add(1), add(2), add(3)]);
    await settle();
    const later = add(4);
    endFirst(new Error('the database is away'));
    for (const result of await results) {
      assert.equal(result.status, 'rejected');
      assert.equal(result.reason.message, 'the database is away');
    }
    await settle();
    endFirst();
    assert.equal(await later, 'done 4');
    assert.deepEqual(batches, [[1, 2, 3], [4]], 'nothing is tried twice');
  });

  it('lets one bad item fail alone', async () => {
    const seen: number[][] = [];
    const add = createBatcher<number, number>(systemWorld, {
      run: async (items) => {
        seen.push([...items]);
        if (items.includes(13)) throw new RangeError('unlucky');
        return items.map((item) => item * 2);
      },
      maxItems: 10,
      maxConcurrent: 1,
      isItemsFault: (error) => error instanceof RangeError,
    });
    const results = await Promise.allSettled([add(1), add(13), add(2), add(13)]);
    assert.deepEqual(
      results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message)),
      [2, 'unlucky', 4, 'unlucky'],
    );
    assert.deepEqual(seen, [[1, 13, 2, 13], [1], [13], [2], [13]]);
    assert.equal(await add(3), 6);
  });

  it('passes an error on to each item alone when it is not the item’s fault after all', async () => {
    let calls = 0;
    const add = createBatcher<number, number>(systemWorld, {
      run: async () => {
        calls += 1;
        throw calls === 1 ? new RangeError('whose fault?') : new Error('the database is away');
      },
      maxItems: 10,
      maxConcurrent: 1,
      isItemsFault: (error) => error instanceof RangeError,
    });
    const results = await Promise.allSettled([add(1), add(2)]);
    assert.deepEqual(
      results.map((result) => result.status === 'rejected' && result.reason.message),
      ['the database is away', 'the database is away'],
    );
    assert.equal(calls, 3);
  });

  it('survives work that throws before it begins', async () => {
    const add = createBatcher<number, number>(systemWorld, {
      run: () => {
        throw new Error('at once');
      },
      maxItems: 10,
      maxConcurrent: 1,
      isItemsFault: () => false,
    });
    for (let times = 0; times < 3; times += 1) await assert.rejects(add(1), /at once/);
  });

  it('gathers for the given number of turns, or until the batch is full', async () => {
    const due: (() => void)[] = [];
    const turn = () => {
      for (const run of due.splice(0)) run();
    };
    const timers = { ...systemWorld.timers, soon: (run: () => void) => void due.push(run) };
    const { add, batches, settle, endFirst } = controlled({ turns: 3 }, timers);
    const first = add(1);
    turn();
    const second = add(2);
    turn();
    assert.deepEqual(batches, []);
    turn();
    assert.deepEqual(batches, [[1, 2]]);
    const full = [3, 4, 5, 6].map(add);
    endFirst();
    await settle();
    turn();
    assert.deepEqual(
      batches,
      [
        [1, 2],
        [3, 4, 5, 6],
      ],
      'nothing is gained by waiting longer',
    );
    endFirst();
    assert.deepEqual(
      await Promise.all([first, second, ...full]),
      [1, 2, 3, 4, 5, 6].map((item) => `done ${item}`),
    );
  });

  it('answers every item once and with its own result, whatever comes and goes', async () => {
    const item = fc.record({ value: fc.integer(), isBad: fc.boolean(), turns: fc.integer({ min: 0, max: 2 }) });
    const bounds = { maxItems: fc.integer({ min: 1, max: 5 }), maxConcurrent: fc.integer({ min: 1, max: 3 }) };
    await fc.assert(
      fc.asyncProperty(
        fc.array(item, { maxLength: 40 }),
        fc.record(bounds),
        async (items, { maxItems, maxConcurrent }) => {
          let running = 0;
          const add = createBatcher<(typeof items)[number], number>(systemWorld, {
            run: async (batch) => {
              running += 1;
              assert.ok(running <= maxConcurrent && batch.length <= maxItems && batch.length > 0);
              for (const { turns } of batch) for (let turn = 0; turn < turns; turn += 1) await nextTurn();
              running -= 1;
              if (batch.some(({ isBad }) => isBad)) throw new RangeError('bad');
              return batch.map(({ value }) => value);
            },
            maxItems,
            maxConcurrent,
            isItemsFault: (error) => error instanceof RangeError,
          });
          const results = await Promise.all(
            items.map(async (each) => {
              for (let turn = 0; turn < each.turns; turn += 1) await nextTurn();
              return add(each).catch(() => 'bad');
            }),
          );
          assert.deepEqual(
            results,
            items.map(({ value, isBad }) => (isBad ? 'bad' : value)),
          );
        },
      ),
    );
  });
});
