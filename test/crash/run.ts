import { parseArgs } from 'node:util';
import { layoutTable } from '../../src/cli/table.ts';
import { FAULTS, type Incident, runFault } from './faults.ts';
import { countPayments, type Judgement, judgeOrders } from './judge-orders.ts';
import { startLoad } from './load.ts';
import { openCrashScene } from './scene.ts';

interface Row extends Judgement {
  readonly name: string;
  readonly runs: number;
  readonly orders: number;
  readonly slowestMs: number;
}

const COLUMNS = [
  { title: 'killed at', cell: ({ name }: Row) => name },
  { title: 'runs', cell: ({ runs }: Row) => String(runs) },
  { title: 'orders under way', cell: ({ orders }: Row) => String(orders) },
  { title: 'lost', cell: ({ lost }: Row) => String(lost.length) },
  { title: 'doubled', cell: ({ doubled }: Row) => String(doubled.length) },
  { title: 'misreported', cell: ({ misreported }: Row) => String(misreported.length) },
  { title: 'slowest recovery', cell: ({ slowestMs }: Row) => `${(slowestMs / 1000).toFixed(1)} s` },
];

if (import.meta.main) process.exitCode = await main();

/** Causes every fault several times, waits for the recovery from each, and prints a table. */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { runs: { type: 'string', default: '1' }, only: { type: 'string' } } });
  const faults = FAULTS.filter(({ name }) => name.includes(values.only ?? ''));
  const scene = await openCrashScene();
  const load = startLoad(scene);
  try {
    const incidents: Incident[] = [];
    for (const fault of faults) {
      for (let run = 1; run <= Number(values.runs); run += 1) {
        incidents.push(await runFault({ scene, load }, fault, { isPatient: true }));
        process.stderr.write(`${fault.name}: run ${run} of ${values.runs}, ${load.orders.length} orders\n`);
      }
    }
    await load.stop();
    const rows = [];
    for (const { name } of faults) rows.push(await rowOf(name));
    const total = await judgeOrders(scene, load.orders);
    const surplus = (await countPayments(scene)) - load.orders.length;
    const books = await scene.compareBooks();
    process.stdout.write(`${layoutTable(rows, COLUMNS)}\n\n`);
    process.stdout.write(`${load.orders.length} orders, each paid and refunded. ${sumOf(total)}\n`);
    process.stdout.write(`Payments without an order: ${surplus}. Books against the chain: ${books || 'equal'}.\n`);
    const problems = [...total.lost, ...total.doubled, ...total.misreported];
    for (const problem of problems) process.stdout.write(`  ${problem}\n`);
    return problems.length === 0 && surplus === 0 && books === '' ? 0 : 1;

    async function rowOf(name: string): Promise<Row> {
      const own = incidents.filter(({ fault }) => fault === name);
      const orders = [...new Set(own.flatMap((incident) => incident.orders))];
      const slowestMs = Math.max(...own.map(({ recoveryMs = 0 }) => recoveryMs));
      return { name, runs: own.length, orders: orders.length, slowestMs, ...(await judgeOrders(scene, orders)) };
    }
  } finally {
    await scene.close();
    await load.stop();
  }
}

function sumOf({ lost, doubled, misreported }: Judgement): string {
  return `${lost.length} lost, ${doubled.length} doubled, ${misreported.length} misreported.`;
}
