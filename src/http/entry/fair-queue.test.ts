import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFairQueue } from './fair-queue.ts';

describe('a fair queue', () => {
  /** Work that ends when the test says so, and the order in which it was started. */
  function scene(input: Parameters<typeof createFairQueue>[0]) {
    const queue = createFairQueue(input);
    const started: string[] = [];
    const ends = new Map<string, () => void>();
    return {
      started,
      ask: (name: string) =>
        queue.run(name.charAt(0), () => {
          started.push(name);
          return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
        }),
      end: async (name: string, answer: Promise<string> | undefined) => {
        ends.get(name)?.();
        assert.equal(await answer, name);
        // The next place is given when the promise has settled.
        await new Promise(setImmediate);
      },
    };
  }

  it('gives free places to the callers in turn, whatever the number of their requests', async () => {
    const { ask, end, started } = scene({ places: 1, perCaller: 1, waitingPerCaller: 9 });
    const asked = new Map(['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map((name) => [name, ask(name)]));
    for (const name of ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']) {
      await new Promise(setImmediate);
      assert.equal(started.at(-1), name);
      await end(name, asked.get(name));
    }
  });

  it('leaves places free for others when a caller has its share', async () => {
    const { ask, started } = scene({ places: 3, perCaller: 2, waitingPerCaller: 9 });
    for (const name of ['a1', 'a2', 'a3', 'b1']) void ask(name);
    await new Promise(setImmediate);
    assert.deepEqual(started, ['a1', 'a2', 'b1']);
  });

  it('refuses a caller with too many requests waiting, and no other', async () => {
    const { ask, end } = scene({ places: 1, perCaller: 1, waitingPerCaller: 2 });
    const [first, , , refused, other] = ['a1', 'a2', 'a3', 'a4', 'b1'].map(ask);
    assert.equal(refused, undefined);
    await new Promise(setImmediate);
    await end('a1', first);
    await end('b1', other);
    assert.notEqual(ask('a5'), undefined);
  });

  it('gives the place back when the work fails', async () => {
    const queue = createFairQueue({ places: 1, perCaller: 1, waitingPerCaller: 1 });
    await assert.rejects(async () => queue.run('a', () => Promise.reject(new RangeError('no'))), RangeError);
    assert.equal(await queue.run('a', async () => 'next'), 'next');
  });
});
