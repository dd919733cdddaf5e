import { checkAll, checkChanged } from './check-invariants.ts';
import { shop } from './clients.ts';
import { followEvents } from './event-follower.ts';
import { faultsOf, heal, mine, trouble } from './faults.ts';
import type { Mutant } from './mutants.ts';
import { liftAll, operate } from './operator.ts';
import type { Plan } from './plan.ts';
import { backUp, isEnough, rebuildAll, restore } from './restoring.ts';
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

/** A refund that nobody signs is waited for during 20 minutes of calm, which takes some 30,000 steps of three nodes. */
const MAX_STEPS = 90_000;
/** Everything ends within this time after the faults. */
const QUIET_WITHIN_MS = 45 * 60_000;
const STRIDE_MS = 3_000;
const HEALING_STRIDE_MS = 6_000;
/** While clients wait for the end of a deposit address, and while nothing but time ends what is left. */
const CALM_STRIDE_MS = 12_000;
const IDLE_STRIDE_MS = 45_000;
const BEFORE_DEADLINE_MS = 12_000;
const AFTER_DEADLINE_MS = 24_000;
/** Transactions of clients are in one of these blocks, or never. */
const BLOCKS_AFTER_CLIENTS = 2;
const CHECK_QUIET_EVERY = 250;

export async function runPlan(plan: Plan, mutant?: Mutant): Promise<RunResult> {
  const { alter, alterChain, alterDatabase, deadlyPoints } = mutant ?? {};
  const stage = await openStage({ ...plan, alter, alterChain, alterDatabase, deadlyPoints });
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
  scheduler.setStride(STRIDE_MS);
  for (const network of stage.networks) void mine(stage, network);
  void followEvents(stage).catch((error: unknown) => violations.push(error));
  for (let index = 0; index < plan.clients; index += 1) act(shop(stage, index, plan.ways));
  if (plan.hasOperator) act(operate(stage));
  act(trouble(stage, { kinds: faultsOf(plan.faults), untilMs }));
  await advance(() => scheduler.nowMs() >= untilMs);
  await troubleAtDeadline();

  heal(stage);
  act(liftAll(stage));
  let backup = plan.hasRestore ? await backUp(stage) : undefined;
  await untilQuiet(async () => {
    if (backup !== undefined && !(await isEnough(stage, backup))) backup = await backUp(stage);
  });
  await checkAll(stage);
  if (backup !== undefined) {
    const kept = backup;
    act(restore(stage, kept).then(() => rebuildAll(stage)));
    await untilQuiet();
    await checkAll(stage);
  }

  /** Time passes until nothing is left to do. */
  async function untilQuiet(atEachCheck: () => Promise<void> = async () => {}): Promise<void> {
    scheduler.setStride(HEALING_STRIDE_MS);
    const deadlineMs = scheduler.nowMs() + QUIET_WITHIN_MS;
    stage.quietSince = undefined;
    let nextCheck = 0;
    let readTo: Heights | undefined;
    await advance(async () => {
      if (scheduler.nowMs() >= deadlineMs) return true;
      if (stage.quietSince === undefined && scheduler.steps() < nextCheck) return false;
      nextCheck = scheduler.steps() + CHECK_QUIET_EVERY;
      await atEachCheck();
      if (stage.acting() > 0) return false;
      readTo ??= await headsAhead(stage);
      if ((await workLeft(stage, readTo)) === '') {
        stage.quietSince ??= scheduler.steps();
        return stage.isRestored || stage.followed.upToDateSince === stage.quietSince;
      }
      // A held amount that is paid out now makes new events.
      stage.quietSince = undefined;
      const waitsForMs = await nextDeadline(stage);
      if (waitsForMs === undefined) scheduler.setStride(HEALING_STRIDE_MS);
      else scheduler.setStride(IDLE_STRIDE_MS, waitsForMs);
      return false;
    });
  }

  /** Deposit addresses live for two minutes at least. There is trouble again when the first of them runs out. */
  async function troubleAtDeadline(): Promise<void> {
    const rows = await stage.sql<{ at: Date | null }[]>`
      select min(i.deadline) as at from deposits d join items i on i.commitment = d.item where i.state = 'offered'`;
    const deadlineMs = rows[0]?.at?.getTime() ?? 0;
    if (deadlineMs < scheduler.nowMs()) return;
    heal(stage);
    const beginMs = deadlineMs - BEFORE_DEADLINE_MS;
    scheduler.setStride(CALM_STRIDE_MS, beginMs);
    await advance(() => scheduler.nowMs() >= beginMs);
    const endMs = deadlineMs + AFTER_DEADLINE_MS;
    act(
      trouble(stage, {
        kinds: faultsOf(plan.faults),
        untilMs: endMs,
        name: 'late',
      }),
    );
    scheduler.setStride(STRIDE_MS);
    await advance(() => scheduler.nowMs() >= endMs);
  }

  async function advance(isOver: () => boolean | Promise<boolean>): Promise<void> {
    for (;;) {
      await stage.driver.settle();
      stage.rings.check();
      if (violations.length > 0) throw violations[0];
      await checkChanged(stage, stage.driver.takeChanged());
      if (await isOver()) return;
      if (scheduler.steps() >= MAX_STEPS) {
        const left = await workLeft(stage, await headsAhead(stage));
        throw new Violation('the run ends', `it took more than ${MAX_STEPS} steps. Left: ${left}`);
      }
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

/** A block of each network. */
interface Heights {
  readonly networks: string[];
  readonly heights: string[];
}

async function headsAhead({ networks }: Stage): Promise<Heights> {
  const heads = await Promise.all(networks.map(({ connected }) => connected.chain.reader.head()));
  return {
    networks: networks.map(({ connected }) => connected.chain.network.chainId),
    heights: heads.map(({ number }) => String(number + BLOCKS_AFTER_CLIENTS)),
  };
}

/** The work that is left, in words. Empty if everything has ended, is booked and sealed, and the chains were read up to these blocks. */
async function workLeft({ sql }: Stage, { networks, heights }: Heights): Promise<string> {
  const rows = await sql<{ left: string | null }[]>`
    select string_agg(count || ' ' || name, ', ' order by name) as left from (
      select 'payments' as name, count(*) from payments where status in ('requires_action', 'processing')
      union all select 'outgoing', count(*) from outgoing where state = 'sending' and problem is distinct from 'limited'
      union all select 'outbox', count(*) from outbox
      union all select 'batches of events', count(*) from event_batches where position > (select position from webhook_cursor)
      union all select 'deliveries', count(*) from webhook_deliveries where status = 'pending'
      union all select 'replays', count(*) from webhook_endpoints where replay_after is not null
      union all select 'events of the chain', count(*) from chain_events where decided_at is null
      union all select 'sends', count(*) from relay_sends where state = 'open'
      union all select 'sweeps', count(*) from items where purpose = 'sweep' and state in ('due', 'sent')
      union all select 'places', count(*) from deposit_places where is_stale
      union all select 'positions', count(*) from positions where is_stale
      union all select 'networks for deposits', count(*) from unnest(${networks}::text[], ${heights}::int[]) as n (network, height)
        join deposit_cursors c on c.network = n.network where final_number < height
      union all select 'networks', count(*) from unnest(${networks}::text[], ${heights}::int[]) as n (network, height)
        join chain_cursors c on c.network = n.network where final_number < height
      union all select 'mails', count(*) from mails where status = 'pending'
      union all select 'entries', count(*) from book_entries where sequence is null
    ) as work where count > 0`;
  return rows[0]?.left ?? '';
}

/**
 * The time of the next deadline, if time alone ends what is left: a payment that nobody pays, a refund that nobody signs, a mail
 * that is tried again. Undefined while something else is under way.
 */
async function nextDeadline({ sql }: Stage): Promise<number | undefined> {
  const rows = await sql<{ at: Date | null; busy: number }[]>`
    select (select min(at) from (
        select deadline as at from items where state = 'offered' union all
        select expires_at from payments where status = 'requires_action' union all
        select due_at from mails where status = 'pending') as deadlines) as at,
      ((select count(*) from items where state in ('due', 'sent'))
      + (select count(*) from payments where status = 'processing')
      + (select count(*) from relay_sends where state = 'open')
      + (select count(*) from outgoing where state = 'sending' and signer = 'gateway' and problem is distinct from 'limited')
      + (select count(*) from outbox)
      + (select count(*) from webhook_deliveries where status = 'pending')
      + (select count(*) from deposit_places where is_stale)
      + (select count(*) from positions where is_stale)
      + (select count(*) from chain_events where decided_at is null))::int as busy`;
  const [{ at, busy } = { at: null, busy: 1 }] = rows;
  return busy === 0 && at !== null ? at.getTime() : undefined;
}

async function labelsOf({ sql }: Stage): Promise<string[]> {
  const rows = await sql<{ label: string }[]>`
    select 'payment ' || status as label from payments union select 'refund ' || state from refunds
    union select 'outgoing ' || purpose || ' ' || state from outgoing
    union select 'event ' || type from events union select 'item ' || state || ' ' || coalesce(end_reason, '') from items
    union select 'send ' || kind from relay_sends
    union select 'deposit ' || i.state || ' of a payment ' || p.status from deposits d join items i on i.commitment = d.item
      join payments p on p.id = d.payment_id
    union select 'refund by ' || signer || ' ' || state from outgoing where purpose = 'refund'
    union select 'payment by link ' || status from payments where link_id is not null
    union select 'mail ' || status || case when tries > 1 then ' at last' else '' end from mails
    union select 'webhook ' || status || case when attempts > 1 then ' at last' else '' end from webhook_deliveries
    order by 1`;
  return rows.map(({ label }) => label);
}
