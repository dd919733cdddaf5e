import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTurns } from './turns.ts';

describe('turns', () => {
  /** The event loop, one turn at a time. */
  function createScene() {
    let soon: (() => void)[] = [];
    let refusals = 0;
    const timers = { after: () => () => {}, sleep: async () => {}, soon: (run: () => void) => void soon.push(run) };
    const turns = createTurns(timers, { onRefusal: () => (refusals += 1) });
    const ran: string[] = [];
    return {
      ran,
      refusals: () => refusals,
      take(caller: string, name = caller) {
        const turn = turns.take(caller);
        if (turn === undefined) ran.push(name);
        else void turn.then(() => ran.push(name));
      },
      async turn() {
        const due = soon;
        soon = [];
        for (const run of due) run();
        await new Promise(setImmediate);
        return ran.splice(0);
      },
    };
  }

  it('one piece runs in each turn of the loop, the first at once', async () => {
    const { take, turn, ran } = createScene();
    take('a', '1');
    take('a', '2');
    take('a', '3');
    assert.deepEqual(ran, ['1']);
    assert.deepEqual(await turn(), ['1', '2']);
    assert.deepEqual(await turn(), ['3']);
    assert.deepEqual(await turn(), []);
    take('a', '4');
    assert.deepEqual(ran, ['4'], 'without load nothing waits');
  });

  it('a caller with many pieces delays a caller with one by one turn', async () => {
    const { take, turn } = createScene();
    for (const name of ['1', '2', '3', '4']) take('noisy', name);
    take('quiet');
    assert.deepEqual(await turn(), ['1', '2']);
    assert.deepEqual(await turn(), ['quiet']);
    assert.deepEqual(await turn(), ['3']);
  });

  it('refuses a caller with too many waiting pieces, and no other', async () => {
    const { take, turn, refusals } = createScene();
    for (let count = 0; count < 51; count += 1) take('noisy');
    assert.throws(() => take('noisy'), { code: 'rate_limited', status: 429 });
    assert.equal(refusals(), 1);
    take('quiet');
    await turn();
    take('noisy');
  });
});
