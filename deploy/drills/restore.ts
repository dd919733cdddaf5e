import type { JudgedScene } from '../../test/crash/judge-orders.ts';
import type { Order } from '../../test/crash/load.ts';
import { missingForNodes, type NodesScene, openNodes } from '../../test/crash/nodes-scene.ts';
import { NETWORK } from '../../test/crash/settings.ts';
import { type ArchivedPostgres, missingPgBackRest, startArchivedPostgres } from '../../test/pgbackrest.ts';
import { until } from '../../test/until.ts';
import { ANSWER_WITHIN_MS, judgeAll, startCustomers } from './customers.ts';
import type { Drill, Step } from './drill.ts';
import { till, tryTill } from './run-command.ts';

const SHOPPERS = 4;
/** Orders between the base backup and the moment, and from there to the loss. */
const ORDERS = 60;
const SHORT_ORDERS = 8;
const NODES = 3;
const SOON = { withinMs: 300_000 };

export const restore: Drill = {
  name: 'restore',
  title: 'Restore to a moment under load: three nodes behind HAProxy, PostgreSQL with pgBackRest',
  missing: () => missingForNodes() || missingPgBackRest(),
  run: async ({ isShort, print }) => {
    const postgres = await startArchivedPostgres();
    const { url, stop } = postgres;
    const scene = await openNodes({ settings: { DATABASE_URL: url }, stop }, { hasAllWays: true });
    try {
      return await restoreUnderLoad(scene, { postgres, orders: isShort ? SHORT_ORDERS : ORDERS, print });
    } finally {
      await scene.close();
    }
  },
};

interface Input {
  readonly postgres: ArchivedPostgres;
  readonly orders: number;
  print(text: string): void;
}

interface Rebuilt {
  readonly rebuilt: readonly string[];
  readonly unplaced: readonly { readonly id: string; readonly problem: string }[];
  readonly isLifted: boolean;
}

/** Customers pay in every way. Some orders begin before the moment and end after it. */
async function restoreUnderLoad(scene: NodesScene, { postgres, orders, print }: Input): Promise<readonly Step[]> {
  const steps: Step[] = [];
  const note = (step: string, result: string, isGood: boolean) => {
    steps.push({ step, result, isGood });
    print(`${step}: ${result}`);
  };
  const input = { shoppers: SHOPPERS, answerWithinMs: ANSWER_WITHIN_MS, askEveryMs: 250 };
  const customers = startCustomers(scene, input);
  try {
    await customers.untilServed(SHOPPERS, 'orders are served');
    const from = await headOf(scene.rpcUrl);
    const failedBefore = customers.failedRequests().length;
    const backedUp = await timed(() => postgres.backUp());
    const failed = customers.failedRequests().length - failedBefore;
    const size = `${((await postgres.backupSize()) / 1_048_576).toFixed(1)} MB`;
    note('base backup under load', `${size} in ${seconds(backedUp.ms)}, ${failed} failed requests`, failed === 0);
    await customers.untilServed(orders, 'orders are served after the backup');
    const moment = await postgres.moment();
    const [known, open] = [customers.endedOrders(), customers.orders.filter(({ isOver }) => !isOver).length];
    await customers.untilServed(orders, 'orders are served after the moment');
    await customers.stop();
    await postgres.untilArchived();
    await scene.killAll();
    const forgotten = customers.orders.length - known;
    note(
      'the server and its data are lost',
      `${forgotten} orders since the moment, ${open} of them under way then`,
      open > 0,
    );

    await postgres.lose();
    const restored = await timed(() => postgres.restoreTo(moment));
    note('restore to the moment', seconds(restored.ms), true);
    await till(scene.settings(), 'restored');
    for (let index = 0; index < NODES; index += 1) await scene.restart(index);
    await until('the nodes have read the chain and are in use', scene.isComplete, SOON);
    const rebuilt = await timed(() => rebuildAll(scene, from));
    const { runs, objects, last } = rebuilt.value;
    for (const { id, problem } of last.unplaced) print(`${id} ${problem}`);
    const counts = `${runs} runs, ${objects} objects, ${last.unplaced.length} unplaced at the end`;
    note('till restored, till rebuild', `${counts}, ${seconds(rebuilt.ms)}`, last.unplaced.length === 0);
    note('the freeze is lifted by the rebuild', last.isLifted ? 'yes' : 'no', last.isLifted);
    const forgottenOf = await contradictions(scene, customers.orders);
    for (const text of forgottenOf) print(text);
    note('answers that customers remember', `${forgottenOf.length} contradicted`, forgottenOf.length === 0);

    const later = startCustomers(scene, { ...input, firstNumber: customers.orders.length });
    try {
      await later.untilServed(orders, 'orders are served after the restore');
    } finally {
      await later.stop();
    }
    note(
      'payments afterwards',
      `${later.endedOrders()} paid and refunded, ${later.wrongOrders()} failed`,
      later.wrongOrders() === 0,
    );
    return [...steps, ...(await judgeAll(scene, [...customers.orders, ...later.orders], print))];
  } finally {
    await customers.stop();
  }
}

/**
 * Runs it until it has lifted the freeze. Payments to addresses come back as `processing`, and the watcher decides them; their refunds
 * and returns find their place in a later run.
 */
async function rebuildAll({ settings }: NodesScene, from: number) {
  const objects = new Set<string>();
  let runs = 0;
  let last: Rebuilt | undefined;
  const rebuild = async () => {
    runs += 1;
    const { json } = await tryTill(settings(), 'rebuild', '--network', NETWORK, '--from', String(from));
    last = json as Rebuilt;
    for (const id of last.rebuilt) objects.add(id);
    return last.isLifted;
  };
  await until('the rebuild has lifted the freeze', rebuild, SOON).catch(() => {});
  if (last === undefined) throw new Error('The rebuild did not run.');
  return { runs, objects: objects.size, last };
}

async function headOf(rpcUrl: string): Promise<number> {
  const answer = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }),
  });
  return Number(((await answer.json()) as { result: string }).result);
}

interface Shown {
  readonly status: string;
  readonly info?: { readonly txId: string } | null;
  readonly refund?: { readonly status: string; readonly txId?: string };
}

/** Orders of which the API now says something else than it said to their customers before. */
async function contradictions(
  { baseUrls, apiKey, merchantId, hand }: JudgedScene,
  orders: readonly Order[],
): Promise<string[]> {
  const found: string[] = [];
  for (const { number, id, way, paidBy, refundedBy } of orders) {
    const answer = await fetch(`${baseUrls[0]}/v1/payments/${id}`, {
      headers: { 'Api-Key': apiKey, 'Merchant-Id': way === 'hand' ? (hand?.merchantId ?? '') : merchantId },
    });
    const { status, info, refund } = (await answer.json()) as Shown;
    const now = [status, info?.txId, refund?.status, refund?.txId].join(', ');
    const then = ['succeeded', paidBy, 'refunded', refundedBy].join(', ');
    if (now !== then) found.push(`order ${number} (${id}, ${way}) was ${then}; it is ${now}`);
  }
  return found;
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const fromMs = performance.now();
  const value = await work();
  return { value, ms: performance.now() - fromMs };
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
