import { missingForNodes, type NodesScene, openNodes, SERVER_CONNECTIONS } from '../../test/crash/nodes-scene.ts';
import { type Member, missingPatroni, type PatroniCluster, startPatroni } from '../../test/patroni.ts';
import { startPgBouncer } from '../../test/pgbouncer.ts';
import { until } from '../../test/until.ts';
import { type Customers, judgeAll, startCustomers } from './customers.ts';
import type { Drill, Step } from './drill.ts';

const SHOPPERS = 4;
const SOON = { withinMs: 300_000 };
/** Longer than Patroni needs by itself. Then the operator acts. */
const ALONE = { withinMs: 60_000 };
const OTHER_WITHIN = { withinMs: 240_000 };
const OTHER = 'the other server is the primary';
const ASK_EVERY_MS = 10_000;

/** A way to lose a primary. */
interface Loss {
  readonly step: string;
  /** The reason why it cannot happen here. */
  missing?(member: Member): string | false;
  cause(member: Member): Promise<void>;
  /** Makes the lost member a standby again. */
  repair(member: Member): Promise<void>;
}

const LOSSES: readonly Loss[] = [
  {
    step: 'the primary is killed, and its Patroni with it',
    cause: (member) => member.kill(),
    repair: (member) => member.start(),
  },
  {
    step: 'the network of the primary is cut',
    cause: async (member) => member.cutNetwork(),
    repair: async (member) => member.joinNetwork(),
  },
  {
    step: 'the disk of the primary is full',
    missing: ({ disk }) => disk === undefined && 'only root may mount a small disk',
    cause: async ({ disk }) => disk?.fill(),
    repair: async (member) => {
      await member.disk?.free();
      if (!member.isRunning()) await member.start();
    },
  },
];

export const failover: Drill = {
  name: 'failover',
  title: 'Loss of the primary under load: three nodes behind HAProxy, PgBouncer, two PostgreSQL with Patroni and etcd',
  missing: () => missingForNodes() || missingPatroni(),
  run: async ({ isShort, print }) => {
    const cluster = await startPatroni();
    const scene = await openScene(cluster);
    try {
      return await loseAll(scene, { cluster, rounds: isShort ? 1 : 2, print });
    } finally {
      await scene.close();
    }
  },
};

async function openScene(cluster: PatroniCluster) {
  const pgBouncer = await startPgBouncer(cluster.url, { serverConnections: SERVER_CONNECTIONS });
  return openNodes({
    settings: { DATABASE_URL: pgBouncer.url, DATABASE_DIRECT_URL: cluster.url },
    async stop() {
      await pgBouncer.stop();
      await cluster.stop();
    },
  });
}

interface Input {
  readonly cluster: PatroniCluster;
  /** Each loss happens so many times, to another server each time. */
  readonly rounds: number;
  print(text: string): void;
}

async function loseAll(scene: NodesScene, { cluster, rounds, print }: Input): Promise<readonly Step[]> {
  const customers = startCustomers(scene, { shoppers: SHOPPERS, answerWithinMs: 10_000, askEveryMs: 250 });
  const steps: Step[] = [];
  const silences: number[] = [];
  try {
    await customers.untilServed(SHOPPERS, 'orders are served');
    for (let round = 0; round < rounds; round += 1) {
      for (const loss of LOSSES) {
        const { step, silenceMs } = await lose(loss, { cluster, customers });
        steps.push(step);
        if (silenceMs !== undefined) silences.push(silenceMs);
        print(`${step.step}: ${step.result}`);
      }
    }
    await until('all nodes are in use again', scene.isComplete, SOON);
    await customers.stop();
    const longest = seconds(Math.max(0, ...silences));
    return [
      ...steps,
      { step: 'longest silence', result: longest, isGood: true },
      ...(await judgeAll(scene, customers.orders, print)),
    ];
  } finally {
    await customers.stop();
  }
}

async function lose(
  { step, missing, cause, repair }: Loss,
  { cluster, customers }: { cluster: PatroniCluster; customers: Customers },
): Promise<{ readonly step: Step; readonly silenceMs?: number }> {
  const lost = await cluster.primary();
  if (lost === undefined) throw new Error('There is no primary to lose.');
  const reason = missing?.(lost) ?? false;
  if (reason) return { step: { step, result: reason, isGood: undefined } };
  const [other] = cluster.members.filter((member) => member !== lost);
  const fromMs = performance.now();
  const [failedBefore, endedBefore] = [customers.failedRequests().length, customers.endedOrders()];
  await cause(lost);
  const isTaken = async () => (await other?.isPrimary()) === true;
  const isTakenAlone = await isWithin(OTHER, isTaken, ALONE);
  let askedMs = Number.NEGATIVE_INFINITY;
  // Patroni refuses a switchover while the standby is behind, so an operator asks again.
  const isTakenWhenAsked = async () => {
    if (await isTaken()) return true;
    if (performance.now() - askedMs > ASK_EVERY_MS) {
      askedMs = performance.now();
      await lost.handOver();
    }
    return false;
  };
  const hasFailedOver = isTakenAlone || (await isWithin(OTHER, isTakenWhenAsked, OTHER_WITHIN));
  const tookMs = performance.now() - fromMs;
  if (hasFailedOver) await customers.untilServed(2 * SHOPPERS, `orders are served after: ${step}`);
  await repair(lost);
  if (!hasFailedOver) await customers.untilServed(2 * SHOPPERS, `orders are served after the repair: ${step}`);
  const isWholeAlone = await isWithin('the lost server is the standby', cluster.isComplete, ALONE);
  if (!isWholeAlone) await lost.copyAnew();
  await cluster.untilComplete();
  const silenceMs = customers.longestSilenceMs(fromMs);
  const [failed, ended] = [customers.failedRequests().length - failedBefore, customers.endedOrders() - endedBefore];
  const how = isTakenAlone ? '' : ', by a switchover of the operator';
  const back = isWholeAlone ? '' : ', the lost server copied anew by the operator';
  const taken = hasFailedOver ? `another primary after ${seconds(tookMs)}${how}` : 'no other primary';
  return {
    step: {
      step,
      result: `${taken}${back}, longest silence ${seconds(silenceMs)}, ${failed} requests repeated, ${ended} payments paid and refunded`,
      isGood: hasFailedOver,
    },
    silenceMs,
  };
}

function isWithin(
  name: string,
  condition: () => Promise<boolean>,
  limit: { readonly withinMs: number },
): Promise<boolean> {
  return until(name, condition, limit).then(
    () => true,
    () => false,
  );
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
