import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { onlyLongIf } from '../long.ts';
import { KEPT_SEEDS } from './kept-seeds.ts';
import { MUTANTS } from './mutants.ts';
import { NAMED_MUTANTS } from './named-mutants.ts';
import { type Plan, planOf } from './plan.ts';
import { runPlan } from './run.ts';
import { seeded } from './seeded.ts';

const QUOTED = /'[^'\n]*'|"[^"\n]*"/g;
/** Names that a line may use although its file does not declare them: words of JavaScript and of SQL. */
const EVERYWHERE = new Set(['false', 'interval', 'Math', 'null', 'true', 'undefined', 'void']);

/** The names in a piece of code, without those of members. */
function namesIn(code: string): Set<string> {
  const names = code.matchAll(/(?<![\w$.]|\.\s)[A-Za-z_][\w$]*/g);
  return new Set([...names].map(([name]) => name).filter((name) => !EVERYWHERE.has(name)));
}

/** Long runs are hunts: see `npm run simulate -- --help`. */
describe('the simulation', () => {
  const keepsPromises = async (plan: Plan) => {
    const result = await runPlan(plan);
    const { violation, trace } = result;
    assert.equal(violation, undefined, `${violation?.message}\n${trace.slice(-40).join('\n')}`);
    return result;
  };

  const [replayed, ...others] = KEPT_SEEDS;
  it(`keeps every promise and replays to the same trace with seed ${replayed.plan.seed}: ${replayed.why}`, async () => {
    const [first, second] = [await keepsPromises(replayed.plan), await keepsPromises(replayed.plan)];
    assert.deepEqual(second.trace, first.trace);
  });

  for (const { plan, why, isLong } of others) {
    it(`keeps every promise with seed ${plan.seed}: ${why}`, onlyLongIf(isLong), async () => {
      await keepsPromises(plan);
    });
  }

  it('has mutants whose lines are in the source, once each', () => {
    const lost = NAMED_MUTANTS.filter(({ file, from }) => readFileSync(file, 'utf8').split(from).length !== 2);
    assert.deepEqual(
      lost.map(({ name, file }) => `${file}: ${name}`),
      [],
    );
  });

  it('has mutants that name nothing unknown: a ReferenceError proves no test', () => {
    const unknown = NAMED_MUTANTS.flatMap(({ name, file, to }) => {
      const known = namesIn(readFileSync(file, 'utf8'));
      return [...namesIn(to.replace(QUOTED, ''))].filter((each) => !known.has(each)).map((each) => `${each}: ${name}`);
    });
    assert.deepEqual(unknown, []);
  });

  it('notices a gateway that ignores Idempotency-Keys', async () => {
    const mutant = MUTANTS.find(({ name }) => name === 'an Idempotency-Key is not claimed');
    const { violation } = await runPlan({ ...planOf(2), ways: ['wallet'] }, mutant);
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
