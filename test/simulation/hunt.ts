import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from '../global-setup.ts';
import type { HuntOrder, HuntReport } from './hunter.ts';
import { forkHunter } from './hunter-process.ts';
import { KEPT_SEEDS } from './kept-seeds.ts';
import { huntMutants } from './mutant-hunt.ts';
import type { Mutant } from './mutants.ts';
import { type Plan, planOf, shortPlanOf } from './plan.ts';
import { type RunResult, runPlan } from './run.ts';
import { shrink } from './shrink.ts';

const USAGE = `npm run simulate -- [options]
  --minutes <n>   run new seeds for that long (default 10)
  --seeds <n>     run that many new seeds, however long it takes
  --first <n>     begin with this seed, so that another run has the same ones
  --short         seeds of one or two orders, each of a few thousand steps
  --seed <n>      run this seed twice, and compare the traces
  --plan <json>   run this plan, as printed for a violation
  --mutants       run the broken variants until each is caught
  --only <text>   only the mutants whose names match this pattern
  --kept          run the kept seeds twice each
  --trace <n>     print the last n lines of the trace of a violation (default 60)
`;

/** Every so many seeds one is run twice, to measure the share that replays. */
const REPLAY_EVERY = 10;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seeds: { type: 'string' },
    first: { type: 'string' },
    short: { type: 'boolean', default: false },
    seed: { type: 'string' },
    plan: { type: 'string' },
    mutants: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    kept: { type: 'boolean', default: false },
    trace: { type: 'string', default: '60' },
    help: { type: 'boolean', default: false },
  },
});

const newPlanOf = values.short ? shortPlanOf : planOf;
const print = (text: string) => void process.stdout.write(`${text}\n`);

if (values.help) print(USAGE);
else process.exitCode = await main();

async function main(): Promise<number> {
  await globalSetup();
  try {
    if (values.mutants) {
      const missed = await huntMutants({ only: values.only, isShort: values.short, print });
      return missed === 0 ? 0 : 1;
    }
    if (values.kept) return await repeat(KEPT_SEEDS.map(({ plan }) => plan));
    if (values.plan !== undefined) return await repeat([JSON.parse(values.plan) as Plan]);
    if (values.seed !== undefined) return await repeat([newPlanOf(Number(values.seed))]);
    return await hunt();
  } finally {
    await globalTeardown();
  }
}

/** Runs new seeds on all cores until the time is over, there were enough, or a promise is broken. */
async function hunt(): Promise<number> {
  const startMs = Date.now();
  const first = Number(values.first ?? Math.floor(startMs / 1000) % 1_000_000_000);
  const most = Number(values.seeds ?? Number.POSITIVE_INFINITY);
  const untilMs = values.seeds === undefined ? startMs + Number(values.minutes) * 60_000 : Number.POSITIVE_INFINITY;
  const total = { seeds: 0, steps: 0, virtualMs: 0, faults: 0, replays: 0, same: 0 };
  const labels = new Set<string>();
  let begun = 0;
  let broken: HuntReport | undefined;
  print(`seeds from ${first} on`);
  await Promise.all(Array.from({ length: availableParallelism() }, runSome));
  print(`labels: ${[...labels].sort().join(', ')}`);
  if (broken !== undefined) return report(await runPlan(broken.plan));
  return total.same === total.replays ? 0 : 1;

  async function runSome(): Promise<void> {
    const child = forkHunter();
    const ended = once(child, 'exit');
    try {
      while (broken === undefined && begun < most && Date.now() < untilMs) {
        const isRepeated = begun % REPLAY_EVERY === 0;
        const plan = newPlanOf(first + begun);
        begun += 1;
        child.send({ plan, isRepeated } satisfies HuntOrder);
        const [result] = (await Promise.race([once(child, 'message'), ended])) as [HuntReport | number];
        if (typeof result !== 'object') throw new Error(`seed ${plan.seed} ended its process`);
        add(result);
      }
    } finally {
      if (child.connected) child.disconnect();
    }
  }

  function add(result: HuntReport): void {
    if (result.violation !== undefined) broken = result;
    total.seeds += 1;
    total.steps += result.steps;
    total.virtualMs += result.virtualMs;
    total.faults += result.faults;
    for (const label of result.labels) labels.add(label);
    if (result.isSame !== undefined) {
      total.replays += 1;
      if (result.isSame) total.same += 1;
      else print(`seed ${result.plan.seed} did not replay to the same trace: ${result.difference}`);
    }
    const hours = (total.virtualMs / 3_600_000).toFixed(1);
    const minutes = ((Date.now() - startMs) / 60_000).toFixed(1);
    print(
      `${minutes} minutes: ${total.seeds} seeds, ${total.steps} steps, ${hours} virtual hours, ${total.faults} faults, ` +
        `${labels.size} labels, ${total.same} of ${total.replays} replays the same`,
    );
  }
}

/** Runs each plan twice. */
async function repeat(plans: readonly Plan[]): Promise<number> {
  let same = 0;
  for (const plan of plans) {
    const result = await runPlan(plan);
    if (result.violation !== undefined) return report(result);
    const again = await runPlan(plan);
    const isSame = again.traceHash === result.traceHash;
    if (isSame) same += 1;
    print(
      `seed ${plan.seed}: ${result.steps} steps, no violation, ${isSame ? 'the same trace' : 'ANOTHER trace'} again`,
    );
  }
  print(`${same} of ${plans.length} replay to the same trace`);
  return same === plans.length ? 0 : 1;
}

/** Prints a violation: the smallest plan that shows it, its trace, and the command that repeats it. */
async function report(result: RunResult, mutant?: Mutant): Promise<number> {
  print(`\nseed ${result.plan.seed} violates "${result.violation?.message}"`);
  print('making it smaller …');
  const smallest = await shrink(result, mutant);
  print(smallest.trace.slice(-Number(values.trace)).join('\n'));
  print(`\n${smallest.violation?.message}`);
  print(`after ${smallest.steps} steps (${result.steps} before it was made smaller). Repeat it with:`);
  print(`  npm run simulate -- --plan '${JSON.stringify(smallest.plan)}'`);
  return 1;
}
