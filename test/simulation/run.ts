import { checkAll, checkChanged } from './check-invariants.ts';
import { shop } from './clients.ts';
import { followEvents } from './event-follower.ts';
import { FAULTS, heal, mine, trouble } from './faults.ts';
import type { Mutant } from './mutants.ts';
import { liftAll, operate } from './operator.ts';
import type { Plan } from './plan.ts';
import { hash } from './seeded.ts';
import { openStage, type Stage, Violation } from './stage.ts';

export interface RunResult {
  readonly plan: Plan;
  readonly violation: Violation | undefined;
  readonly steps: number;
  readonly virtualMs: number;
  readonly faults: ReadonlyMap<string, number>;
  /** The final states of payments and refunds that were reached, and what clients met. */
  readonly labels: readonly string[];
  readonly trace: readonly string[];
  readonly traceHash: number;
}

const MAX_STEPS = 60_000;
/** Everything ends within this time after the faults. */
const QUIET_WITHIN_MS = 45 * 60_000;
const HEALING_STRIDE_MS = 6_000;
const CHECK_QUIET_EVERY = 250;

export async function runPlan(plan: Plan, mutant?: Mutant): Promise<RunResult> {
  const { alter, alterChain, alterDatabase } = mutant ?? {};
  const stage = await openStage({ ...plan, alter, alterChain, alterDatabase });
  const startMs = stage.scheduler.nowMs();
  let violation: Violation | undefined;
  try {
    await live(stage, plan);
  } catch (error) {
    // An unexpected error of the simulation itself is reported like a violation: with its trace.
    violation = error instanceof Violation ? error : new Violation('the run goes on', String((error as Error).stack));
    stage.scheduler.note(`violated: ${violation.message}`);
  }
  const labels = await labelsOf(stage);
  await stage.close();
  const { trace } = stage.scheduler;
  return {
    plan,
    violation,
    steps: stage.scheduler.steps(),
    virtualMs: stage.scheduler.nowMs() - startMs,
    faults: stage.faults,
    labels,
    trace,
    traceHash: hash(trace.join('\n')),
  };
}

async function live(stage: Stage, plan: Plan): Promise<void> {
  const { scheduler, violations, act } = stage;
  const untilMs = scheduler.nowMs() + plan.troubleMs;
  act(startAll(stage));
  scheduler.setStride(3_000);
  void mine(stage);
  void followEvents(stage).catch((error: unknown) => violations.push(error));
  for (let index = 0; index < plan.clients; index += 1) act(shop(stage, index));
  if (plan.hasOperator) act(operate(stage));
  act(trouble(stage, { kinds: FAULTS.filter(({ label }) => plan.faults.includes(label)), untilMs }));
  await advance(() => scheduler.nowMs() >= untilMs);

  heal(stage);
  act(liftAll(stage));
  scheduler.setStride(HEALING_STRIDE_MS);
  const deadlineMs = scheduler.nowMs() + QUIET_WITHIN_MS;
  let nextLook = 0;
  await advance(async () => {
    if (scheduler.nowMs() >= deadlineMs) return true;
    if (scheduler.steps() < nextLook) return false;
    nextLook = scheduler.steps() + CHECK_QUIET_EVERY;
    stage.isQuiet = stage.acting() === 0 && (await isAllDone(stage));
    return stage.isQuiet;
  });
  await advance(() => stage.followed.isUpToDate || scheduler.nowMs() >= deadlineMs);
  await checkAll(stage);

  async function advance(isOver: () => boolean | Promise<boolean>): Promise<void> {
    for (;;) {
      await stage.driver.settle();
      stage.rings.check();
      if (violations.length > 0) throw violations[0];
      await checkChanged(stage, stage.driver.takeChanged());
      if (await isOver()) return;
      if (scheduler.steps() >= MAX_STEPS) throw new Violation('the run ends', `it took more than ${MAX_STEPS} steps`);
      if (!scheduler.step()) throw new Violation('the run goes on', 'nothing is left to do');
    }
  }
}

/**
 * Starts the nodes one after the other. Several inserts of the same new key would wait for one transaction, and the server
 * lets them go on in no fixed order; rows that exist have an ordered queue.
 */
async function startAll({ nodes, startNode }: Stage): Promise<void> {
  for (const index of nodes.keys()) {
    startNode(index);
    const node = nodes[index];
    await Promise.race([node?.started, node?.crashed]);
  }
}

/** True if every payment is final, nothing is on its way, every webhook is delivered, and everything is booked and sealed. */
async function isAllDone({ sql }: Stage): Promise<boolean> {
  const rows = await sql<{ open: number }[]>`
    select ((select count(*) from payments where status in ('requires_action', 'processing'))
      + (select count(*) from outgoing where state = 'sending' and problem is distinct from 'limited')
      + (select count(*) from outbox)
      + (select count(*) from event_batches where position > (select position from webhook_cursor))
      + (select count(*) from webhook_deliveries where status = 'pending')
      + (select count(*) from webhook_endpoints where replay_after is not null)
      + (select count(*) from chain_events where decided_at is null)
      + (select count(*) from sends where state = 'open')
      + (select count(*) from book_entries where sequence is null))::int as open`;
  return rows[0]?.open === 0;
}

async function labelsOf({ sql }: Stage): Promise<string[]> {
  const rows = await sql<{ label: string }[]>`
    select 'payment ' || status as label from payments union select 'refund ' || state from refunds
    union select 'outgoing ' || purpose || ' ' || state from outgoing
    union select 'event ' || type from events union select 'item ' || state || ' ' || coalesce(end_reason, '') from items
    union select 'send ' || kind from sends
    union select 'webhook ' || status || case when attempts > 1 then ' at last' else '' end from webhook_deliveries
    order by 1`;
  return rows.map(({ label }) => label);
}
