import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KEPT_SEEDS } from './kept-seeds.ts';
import { MUTANTS } from './mutants.ts';
import { planOf, runPlan } from './run.ts';
import { seeded } from './seeded.ts';

/** Long runs are hunts: see `npm run simulate -- --help`. */
describe('the simulation', () => {
  for (const { seed, why } of KEPT_SEEDS) {
    it(`keeps every promise with seed ${seed}: ${why}`, async () => {
      const { violation, trace } = await runPlan(planOf(seed));
      assert.equal(violation, undefined, `${violation?.message}\n${trace.slice(-40).join('\n')}`);
    });
  }

  it('replays a seed to the same trace', async () => {
    const plan = { ...planOf(2), troubleMs: 20_000, clients: 3 };
    const [first, second] = [await runPlan(plan), await runPlan(plan)];
    assert.deepEqual(second.trace, first.trace);
  });

  it('notices a gateway that ignores Idempotency-Keys', async () => {
    const mutant = MUTANTS.find(({ name }) => name === 'an Idempotency-Key is not claimed');
    const { violation } = await runPlan(planOf(2), mutant);
    assert.equal(violation?.invariant, 'one payment per key');
  });
});

describe('a seeded stream', () => {
  it('follows from its seed and name alone', () => {
    const draw = (stream: ReturnType<typeof seeded>) => Array.from({ length: 20 }, () => stream.below(1_000));
    assert.deepEqual(draw(seeded(7).fork('a')), draw(seeded(7).fork('a')));
    assert.notDeepEqual(draw(seeded(7).fork('a')), draw(seeded(7).fork('b')));
    assert.notDeepEqual(draw(seeded(7)), draw(seeded(8)));
    const used = seeded(7);
    used.below(10);
    assert.deepEqual(draw(used.fork('a')), draw(seeded(7).fork('a')));
  });
});
