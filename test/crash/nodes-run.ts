import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../until.ts';
import { countPayments, type Judgement, judgeOrders } from './judge-orders.ts';
import { type Load, type Sent, startLoad } from './load.ts';
import { type FailingScene, type NodesScene, openNodesScene } from './nodes-scene.ts';

/** A time in which requests may fail, with the reason. */
interface Trouble {
  readonly kind: TroubleKind;
  readonly fromMs: number;
  readonly toMs: number;
}

const RESTART = 'rolling restart of three nodes';
type TroubleKind = typeof RESTART | 'SIGKILL of a node' | 'failover of PostgreSQL';

export interface NodesReport extends Judgement {
  readonly orders: number;
  readonly requests: number;
  readonly rows: readonly { readonly kind: string; readonly times: number; readonly failed: number }[];
  /** Requests that failed although their node lived, and PostgreSQL did not fail over. */
  readonly unexplained: readonly string[];
  /** Payments that exist on top of the orders. */
  readonly surplus: number;
  /** The differences between the books and the chain. */
  readonly books: string;
}

const SHOPPERS = 6;
const KILL_EVERY_MS = 5_000;
/** Nodes that start take the processor from the others. */
const ANSWER_WITHIN_MS = 10_000;
const BACK = { withinMs: 90_000 };
/** No bound of the gateway: a machine with much other work starts a node late. */
const RESTARTED = { withinMs: 300_000 };
const NODES = 3;

/**
 * Restarts three nodes one after the other under load. Then kills one of them every five seconds, and lets PostgreSQL
 * fail over in the middle of it. Every order is followed to its end, and every request that failed is explained.
 */
export async function runNodes({
  minutes,
  print,
}: {
  minutes: number;
  print(text: string): void;
}): Promise<NodesReport> {
  const scene = await openNodesScene();
  const failed: Sent[] = [];
  let requests = 0;
  const load = startLoad(scene, {
    shoppers: SHOPPERS,
    answerWithinMs: ANSWER_WITHIN_MS,
    onSent: (sent) => {
      requests += 1;
      if (sent.problem !== undefined) failed.push(sent);
    },
  });
  try {
    const troubles: Trouble[] = [];
    const note = async (kind: TroubleKind, cause: () => Promise<void>) => {
      const fromMs = performance.now();
      await cause();
      troubles.push({ kind, fromMs, toMs: performance.now() });
      print(`${kind}: ${load.orders.length} orders, ${failed.length} of ${requests} requests failed`);
    };
    await until('orders are served', () => ended(load) >= SHOPPERS, BACK);
    await note(RESTART, () => restartAll(scene));
    await trouble(scene, load, { minutes, note });
    await load.stop();
    const judgement = await judgeOrders(scene, load.orders);
    const surplus = (await countPayments(scene)) - load.orders.length;
    const books = await scene.compareBooks();
    return { ...judgement, ...explain(failed, troubles), orders: load.orders.length, requests, surplus, books };
  } finally {
    await scene.close();
    await load.stop();
  }
}

const ended = ({ orders }: Load) => orders.filter(({ isOver }) => isOver).length;

/** Restarts every node, each when the one before is in use again. */
export async function restartAll(scene: NodesScene): Promise<void> {
  for (let index = 0; index < NODES; index += 1) {
    const node = scene.node(index);
    node.signal('SIGTERM');
    const how = await node.ended;
    if (how !== 0) throw new Error(`A node that was asked to stop ended with ${how}: ${node.output()}`);
    await scene.restart(index);
    await until('the node is in use again', () => isBack(scene, index), RESTARTED);
  }
}

async function isBack(scene: NodesScene, index: number): Promise<boolean> {
  const node = scene.node(index);
  if (node.isOver()) throw new Error(`A node ended at its start: ${node.output()}`);
  return scene.isComplete();
}

async function trouble(
  scene: FailingScene,
  load: Load,
  { minutes, note }: { minutes: number; note(kind: TroubleKind, cause: () => Promise<void>): Promise<void> },
): Promise<void> {
  const startMs = performance.now();
  const endMs = startMs + minutes * 60_000;
  let hasFailedOver = false;
  for (let index = 0; performance.now() < endMs || !hasFailedOver; index += 1) {
    if (!hasFailedOver && performance.now() >= (startMs + endMs) / 2) {
      hasFailedOver = true;
      await note('failover of PostgreSQL', async () => {
        await scene.failOver();
        const before = ended(load);
        await until('whole orders are served on the new primary', () => ended(load) >= before + SHOPPERS, BACK);
        await until('all nodes are in use again', scene.isComplete, BACK);
      });
    }
    const nextMs = performance.now() + KILL_EVERY_MS;
    await note('SIGKILL of a node', async () => {
      const node = scene.node(index);
      node.signal('SIGKILL');
      await node.ended;
    });
    await scene.restart(index);
    await until('the node is in use again', scene.isComplete, BACK);
    await pause(Math.max(0, nextMs - performance.now()));
  }
}

/** Finds the trouble that each failed request fell into. */
function explain(failed: readonly Sent[], troubles: readonly Trouble[]): Pick<NodesReport, 'rows' | 'unexplained'> {
  const byKind = Map.groupBy(failed, ({ fromMs, toMs }) => {
    const met = troubles.filter((each) => fromMs <= each.toMs && toMs >= each.fromMs);
    // A rolling restart explains nothing: it must not make a request fail.
    return (met.find(({ kind }) => kind !== RESTART) ?? met[0])?.kind;
  });
  const kinds = [...new Set(troubles.map(({ kind }) => kind))];
  const rows = kinds.map((kind) => {
    const times = troubles.filter((each) => each.kind === kind).length;
    return { kind, times, failed: byKind.get(kind)?.length ?? 0 };
  });
  const wrong = [...(byKind.get(undefined) ?? []), ...(byKind.get(RESTART) ?? [])];
  return { rows, unexplained: wrong.map(({ problem }) => problem ?? '') };
}
