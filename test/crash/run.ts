import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { layoutTable } from '../../src/cli/table.ts';
import type { Fault } from './fault.ts';
import { FAULTS, type Incident, runFault, sceneFor } from './faults.ts';
import { countPayments, type Judgement, judgeOrders } from './judge-orders.ts';
import { type LoadInput, startLoad } from './load.ts';
import { type NodesReport, runNodes } from './nodes-run.ts';
import { missingForNodes } from './nodes-scene.ts';
import { openCrashScene } from './scene.ts';

const USAGE = `npm run crash -- [options]
  --runs <n>         cause every fault so many times (default 1)
  --only <text>      only the faults whose names contain this text
  --lanes <n>        cause so many faults at once, each with a database, a chain and a gateway of its own (default: the cores)
  --scene nodes      instead: three nodes behind HAProxy and PgBouncer, one killed every 5 s, and a failover of PostgreSQL
  --minutes <n>      the length of that scene (default 2)
`;

/**
 * Customers and their questions for a status are few, so that an incident takes little of a processor: eight customers who ask
 * every 40 ms make it twice as long. Four pay in each of the ways.
 */
const LOAD: LoadInput = { shoppers: 4, askEveryMs: 200 };

/** The outcome of all runs of one fault. */
interface Row extends Judgement {
  readonly name: string;
  readonly runs: number;
  /** Orders that were under way when the fault happened. */
  readonly open: number;
  /** All orders of the scene. */
  readonly orders: number;
  readonly slowestMs: number;
  /** Payments without an order. */
  readonly surplus: number;
  /** The differences between the books and the chain. */
  readonly books: string;
}

const COLUMNS = [
  { title: 'killed at', cell: ({ name }: Row) => name },
  { title: 'runs', cell: ({ runs }: Row) => String(runs) },
  { title: 'orders under way', cell: ({ open }: Row) => String(open) },
  { title: 'lost', cell: ({ lost }: Row) => String(lost.length) },
  { title: 'doubled', cell: ({ doubled }: Row) => String(doubled.length) },
  { title: 'misreported', cell: ({ misreported }: Row) => String(misreported.length) },
  { title: 'slowest recovery', cell: ({ slowestMs }: Row) => `${(slowestMs / 1000).toFixed(1)} s` },
];

if (import.meta.main) process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '1' },
      only: { type: 'string', default: '' },
      lanes: { type: 'string', default: String(availableParallelism()) },
      scene: { type: 'string' },
      minutes: { type: 'string', default: '2' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.scene === 'nodes') return killNodes(Number(values.minutes));
  if (!values.help && values.scene === undefined) {
    return causeFaults({ runs: Number(values.runs), only: values.only, lanes: Number(values.lanes) });
  }
  process.stdout.write(USAGE);
  return values.help ? 0 : 2;
}

/** Causes every fault several times, waits for the recovery from each, and prints a table. */
async function causeFaults({ runs, only, lanes }: { runs: number; only: string; lanes: number }): Promise<number> {
  const named = FAULTS.filter(({ name }) => name.includes(only));
  for (const { name, skip } of named) if (skip) process.stderr.write(`${name}: left out, as ${skip}\n`);
  const faults = named.filter(({ skip = false }) => skip === false);
  const waiting = [...faults];
  const rows: Row[] = [];
  const broken: string[] = [];
  const work = async () => {
    for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
      const { name } = fault;
      try {
        const row = await runScene(fault, runs);
        rows.push(row);
        process.stderr.write(`${name}: ${row.orders} orders. ${sumOf(row)}\n`);
      } catch (error) {
        broken.push(`${name}: ${(error as Error).stack}`);
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
  const inOrder = faults.flatMap(({ name }) => rows.filter((row) => row.name === name));
  const all = (kind: keyof Judgement) => rows.flatMap((row) => row[kind].map((text) => `${row.name}: ${text}`));
  const total: Judgement = { lost: all('lost'), doubled: all('doubled'), misreported: all('misreported') };
  const orders = rows.reduce((sum, row) => sum + row.orders, 0);
  const surplus = rows.reduce((sum, row) => sum + row.surplus, 0);
  const books = rows.map((row) => row.books).join('');
  process.stdout.write(`${layoutTable(inOrder, COLUMNS)}\n\n`);
  process.stdout.write(`${orders} orders, each paid and refunded. ${sumOf(total)}\n`);
  process.stdout.write(`Payments without an order: ${surplus}. Books against the chain: ${books || 'equal'}.\n`);
  const problems = [...total.lost, ...total.doubled, ...total.misreported, ...broken];
  for (const problem of problems) process.stdout.write(`  ${problem}\n`);
  return problems.length === 0 && surplus === 0 && books === '' ? 0 : 1;
}

/** Causes a fault again and again, in a scene of its own, and judges all orders that were placed in it. */
async function runScene(fault: Fault, runs: number): Promise<Row> {
  const { name } = fault;
  const scene = await openCrashScene(sceneFor([fault]));
  const load = startLoad(scene, LOAD);
  try {
    const incidents: Incident[] = [];
    for (let run = 1; run <= runs; run += 1) {
      incidents.push(await runFault({ scene, load }, fault, { isPatient: true }));
      process.stderr.write(`${name}: run ${run} of ${runs}, ${load.orders.length} orders\n`);
    }
    await load.stop();
    const { orders } = load;
    return {
      name,
      runs,
      open: new Set(incidents.flatMap((incident) => incident.orders)).size,
      orders: orders.length,
      slowestMs: Math.max(...incidents.map(({ recoveryMs = 0 }) => recoveryMs)),
      ...(await judgeOrders(scene, orders)),
      surplus: (await countPayments(scene)) - orders.length,
      books: await scene.compareBooks(),
    };
  } finally {
    await scene.close();
    await load.stop();
  }
}

function sumOf({ lost, doubled, misreported }: Judgement): string {
  return `${lost.length} lost, ${doubled.length} doubled, ${misreported.length} misreported.`;
}

/** Prints a table of the scene with three nodes. */
async function killNodes(minutes: number): Promise<number> {
  const missing = missingForNodes();
  if (missing) {
    process.stderr.write(`${missing}\n`);
    return 1;
  }
  const report = await runNodes({ minutes, print: (text) => void process.stderr.write(`${text}\n`) });
  const columns = [
    { title: 'trouble', cell: ({ kind }: NodesReport['rows'][number]) => kind },
    { title: 'times', cell: ({ times }: NodesReport['rows'][number]) => String(times) },
    { title: 'failed requests', cell: ({ failed }: NodesReport['rows'][number]) => String(failed) },
  ];
  process.stdout.write(`${layoutTable(report.rows, columns)}\n\n`);
  process.stdout.write(`${report.orders} orders by ${report.requests} requests. ${sumOf(report)}\n`);
  process.stdout.write(
    `Requests that failed without such a reason: ${report.unexplained.length}. ` +
      `Payments without an order: ${report.surplus}. Books against the chain: ${report.books || 'equal'}.\n`,
  );
  const problems = [...report.lost, ...report.doubled, ...report.misreported, ...report.unexplained];
  for (const problem of problems) process.stdout.write(`  ${problem}\n`);
  return problems.length === 0 && report.surplus === 0 && report.books === '' ? 0 : 1;
}
