import { readdir, readFile, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { countPayments, judgeOrders } from '../test/crash/judge-orders.ts';
import { type Sent, startLoad } from '../test/crash/load.ts';
import { type CrashScene, openCrashScene } from '../test/crash/scene.ts';
import type { NodeProcess } from '../test/node-process.ts';
import { type Chart, drawChart } from './chart.ts';
import { median, quantile, round } from './figures.ts';
import { until } from './processes.ts';
import { SOAK_FAULTS, type Victim } from './soak-faults.ts';

/** The state of the whole system during one interval. */
interface Sample {
  readonly atS: number;
  readonly requestsPerS: number;
  readonly failedPerS: number;
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly steady: Use | undefined;
  readonly victim: Use | undefined;
}

/** The memory and the open files of a node. */
interface Use {
  readonly memoryMb: number;
  /** Objects of the program, dead ones that are not collected yet among them. */
  readonly heapMb: number | undefined;
  readonly files: number;
}

const PICTURE = new URL('../docs/pictures/soak.svg', import.meta.url);
const FAULT_EVERY_MS = 30_000;
const SAMPLE_MS = 5_000;
/** Customers at once, and the time, for the measured maximum. */
const MOST = { shoppers: 48, forMs: 20_000, withinMs: 180_000 };
/** Customers ask seldom: else the orders that wait during a fault would be most of the load. */
const PATIENCE = { askEveryMs: 500, answerWithinMs: 10_000, endsWithinMs: 300_000 };
/** A shorter run says nothing about growth: a node takes minutes to reach its usual size. */
const JUDGED_FROM_MINUTES = 10;
const MAX_GROWTH = 1.25;
const BYTES_PER_MB = 1_048_576;

/** Runs two nodes at half of their measured maximum, with a fault every 30 s, and draws a picture. */
export async function runSoak(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { minutes: { type: 'string', default: '30' } } });
  const minutes = Number(values.minutes);
  const scene = await openCrashScene({ hasNetwork: true });
  const victim: Victim = { node: await scene.startNode() };
  let load: ReturnType<typeof startLoad> | undefined;
  try {
    await victim.node.ready();
    const first = await measureMost(scene);
    const most = first.perSecond;
    const perSecond = most / 2;
    print(`measured maximum: ${round(most, 1)} orders/s. The soak runs at ${round(perSecond, 1)} orders/s.`);
    let sent: Sent[] = [];
    load = startLoad(scene, {
      ...PATIENCE,
      everyMs: 1_000 / perSecond,
      firstNumber: first.orders.length,
      onSent: (each) => void sent.push(each),
    });
    const take = () => {
      const taken = sent;
      sent = [];
      return taken;
    };
    const { samples, marks } = await soak(scene, victim, { minutes, take });
    await load.stop();
    const title = `Soak: ${minutes} minutes at ${round(perSecond, 1)} orders/s, half of the maximum`;
    await writeFile(PICTURE, drawChart(chartOf(title, samples, marks)));
    const orders = [...first.orders, ...load.orders];
    const { lost, doubled, misreported } = await judgeOrders(scene, orders);
    const surplus = (await countPayments(scene)) - orders.length;
    const books = await scene.compareBooks();
    const growths = describeGrowth(samples);
    for (const { text } of growths) print(text);
    print(
      `${orders.length} orders: ${lost.length} lost, ${doubled.length} doubled, ${misreported.length} misreported.`,
    );
    print(
      `Payments without an order: ${surplus}. Books against the chain: ${books || 'equal'}. The picture is docs/pictures/soak.svg.`,
    );
    for (const problem of [...lost, ...doubled, ...misreported]) print(`  ${problem}`);
    const isSteady = minutes < JUDGED_FROM_MINUTES || growths.every(({ factor }) => factor <= MAX_GROWTH);
    const wrong = lost.length + doubled.length + misreported.length + surplus;
    return wrong === 0 && books === '' && isSteady ? 0 : 1;
  } finally {
    await scene.close();
    await load?.stop();
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** The orders per second that customers get served who wait for nothing else. */
async function measureMost(scene: CrashScene) {
  const load = startLoad(scene, { ...PATIENCE, shoppers: MOST.shoppers });
  const ended = () => load.orders.filter(({ isOver }) => isOver).length;
  await until('orders end', async () => (ended() >= MOST.shoppers ? true : undefined), MOST);
  const [before, startMs] = [ended(), performance.now()];
  await pause(MOST.forMs);
  await until('more orders end', async () => (ended() > before ? true : undefined), MOST);
  const perSecond = ((ended() - before) * 1_000) / (performance.now() - startMs);
  await load.stop();
  return { perSecond, orders: load.orders };
}

/** Samples the nodes and the requests, and causes a fault every 30 s, one kind after the other. */
async function soak(
  scene: CrashScene,
  victim: Victim,
  { minutes, take }: { minutes: number; take(): readonly Sent[] },
): Promise<{ samples: readonly Sample[]; marks: Chart['marks'] }> {
  const samples: Sample[] = [];
  const marks: { atS: number; label: string }[] = [];
  const startMs = performance.now();
  const passedS = () => (performance.now() - startMs) / 1_000;
  let isOver = false;
  const sampling = (async () => {
    for (let count = 1; !isOver; count += 1) {
      await pause(Math.max(0, startMs + count * SAMPLE_MS - performance.now()));
      samples.push(sampleOf(passedS(), take(), await readUse(scene.node), await readUse(victim.node)));
    }
  })();
  for (let count = 1; count * FAULT_EVERY_MS < minutes * 60_000; count += 1) {
    await pause(Math.max(0, startMs + count * FAULT_EVERY_MS - performance.now()));
    const fault = SOAK_FAULTS[(count - 1) % SOAK_FAULTS.length];
    if (fault === undefined) break;
    marks.push({ atS: passedS(), label: fault.label });
    await fault.cause(scene, victim);
    print(`${Math.round(passedS())} s: ${fault.label}`);
  }
  await pause(Math.max(0, startMs + minutes * 60_000 - performance.now()));
  isOver = true;
  await sampling;
  return { samples, marks };
}

function sampleOf(atS: number, sent: readonly Sent[], steady: Use | undefined, victim: Use | undefined): Sample {
  const failed = sent.filter(({ problem }) => problem !== undefined).length;
  const durations = sent.map(({ fromMs, toMs }) => toMs - fromMs);
  const perSecond = (count: number) => (count * 1_000) / SAMPLE_MS;
  return {
    atS,
    requestsPerS: perSecond(sent.length),
    failedPerS: perSecond(failed),
    p50Ms: durations.length === 0 ? undefined : quantile(durations, 0.5),
    p99Ms: durations.length === 0 ? undefined : quantile(durations, 0.99),
    steady,
    victim,
  };
}

/** Undefined for a process that has ended. */
async function readUse(node: NodeProcess): Promise<Use | undefined> {
  try {
    const [status, files, heapMb] = await Promise.all([
      readFile(`/proc/${node.pid}/status`, 'utf8'),
      readdir(`/proc/${node.pid}/fd`),
      readHeap(node),
    ]);
    const kb = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
    return kb === undefined ? undefined : { memoryMb: Number(kb) / 1_024, heapMb, files: files.length };
  } catch {
    return undefined;
  }
}

/** Undefined while the node does not answer. */
async function readHeap(node: NodeProcess): Promise<number | undefined> {
  const url = /http\S+\/metrics/.exec(node.output())?.[0] ?? '';
  const asked = fetch(url, { signal: AbortSignal.timeout(SAMPLE_MS / 2) }).then((answer) => answer.text());
  const bytes = /^nodejs_heap_size_used_bytes (\S+)/m.exec(await asked.catch(() => ''))?.[1];
  return bytes === undefined ? undefined : Number(bytes) / BYTES_PER_MB;
}

/**
 * How the node that was never killed has grown since its warm-up, the first fifth. The heap counts at its smallest, just after
 * a collection. V8 enlarges the room for dead objects for many minutes: the whole memory has to stand still in the end.
 */
function describeGrowth(samples: readonly Sample[]) {
  const fifth = Math.max(1, Math.floor(samples.length / 5));
  const during = (count: number, of: (use: Use) => number | undefined) =>
    samples.slice((count - 1) * fifth, count * fifth).flatMap(({ steady }) => (steady && of(steady)) ?? []);
  const kinds = [
    { name: 'heap after collections', unit: ' MB', early: 2, of: ({ heapMb }: Use) => heapMb, typical: least },
    { name: 'memory', unit: ' MB', early: 4, of: ({ memoryMb }: Use) => memoryMb, typical: median },
    { name: 'open files', unit: '', early: 2, of: ({ files }: Use) => files, typical: median },
  ];
  return kinds.map(({ name, unit, early, of, typical }) => {
    const [before, after] = [typical(during(early, of)), typical(during(5, of))];
    const text = `${name} of the node that was never killed: ${round(before)}${unit} in fifth ${early} of the run, ${round(after)}${unit} in the last`;
    return { text, factor: after / before };
  });
}

function least(values: readonly number[]): number {
  return Math.min(...values);
}

function chartOf(title: string, samples: readonly Sample[], marks: Chart['marks']): Chart {
  const curve = (name: string, of: (sample: Sample) => number | undefined) => ({
    name,
    points: samples.map((sample) => ({ atS: sample.atS, value: of(sample) })),
  });
  return {
    title,
    seconds: samples.at(-1)?.atS ?? 1,
    marks,
    panels: [
      {
        title: 'Requests per second',
        curves: [
          curve('answered and failed', ({ requestsPerS }) => requestsPerS),
          curve('failed, and repeated by the client', ({ failedPerS }) => failedPerS),
        ],
      },
      {
        title: 'Time of a request, ms',
        curves: [curve('p99', ({ p99Ms }) => p99Ms), curve('p50', ({ p50Ms }) => p50Ms)],
      },
      {
        title: 'Memory, MB',
        curves: [
          curve('node that is never killed', ({ steady }) => steady?.memoryMb),
          curve('node that is killed', ({ victim }) => victim?.memoryMb),
          curve('heap of the node that is never killed', ({ steady }) => steady?.heapMb),
        ],
      },
      {
        title: 'Open files',
        curves: [
          curve('node that is never killed', ({ steady }) => steady?.files),
          curve('node that is killed', ({ victim }) => victim?.files),
        ],
      },
    ],
  };
}
