import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { cpus, release, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { measureAgainst } from './against.ts';
import { checkoutMeasurement } from './checkout.ts';
import { createMeasurement } from './create.ts';
import { depositsMeasurement } from './deposits.ts';
import { eventsFeedMeasurement } from './events-feed.ts';
import { exportMeasurement } from './export.ts';
import { faultsMeasurement } from './faults.ts';
import { type Figure, isMet, type Measurement } from './figures.ts';
import { gasMeasurement } from './gas.ts';
import { growthMeasurement } from './growth.ts';
import { installMeasurement } from './install.ts';
import { longPollMeasurement } from './longpoll.ts';
import { manyPaymentsMeasurement } from './many-payments.ts';
import { noisyNeighbourMeasurement } from './noisy-neighbour.ts';
import { optionsMeasurement } from './options.ts';
import { optionsFloodMeasurement } from './options-flood.ts';
import { stopAllProcesses } from './processes.ts';
import { publicRequestsMeasurement } from './public-requests.ts';
import { settleMeasurement } from './settle.ts';
import { settleOnceMeasurement } from './settle-once.ts';
import { settleWithWebhooksMeasurement } from './settle-with-webhooks.ts';
import { runSoak } from './soak.ts';
import { statusMeasurement } from './status.ts';
import { removeAllFolders } from './temporary.ts';
import { tracingMeasurement } from './tracing.ts';
import { webhookOutageMeasurement } from './webhook-outage.ts';
import { webhooksMeasurement } from './webhooks.ts';
import { requireWrk } from './wrk.ts';

const MEASUREMENTS: readonly Measurement[] = [
  createMeasurement,
  statusMeasurement,
  longPollMeasurement,
  settleMeasurement,
  settleOnceMeasurement,
  gasMeasurement,
  depositsMeasurement,
  optionsMeasurement,
  optionsFloodMeasurement,
  publicRequestsMeasurement,
  faultsMeasurement,
  checkoutMeasurement,
  noisyNeighbourMeasurement,
  growthMeasurement,
  manyPaymentsMeasurement,
  exportMeasurement,
  webhooksMeasurement,
  settleWithWebhooksMeasurement,
  eventsFeedMeasurement,
  webhookOutageMeasurement,
  installMeasurement,
  tracingMeasurement,
];

/** Each of the merchants has some. */
const FEWEST_PAYMENTS = 20_000;

const USAGE = `npm run bench                    every figure but the large ones
npm run bench -- --large         every figure
npm run bench -- create status   these figures
npm run bench -- dashboard --payments 1000000
                                 with fewer payments than the target is about; for lists, dashboard, export and noisy_neighbour
npm run bench -- settle --statements
                                 where the time of a payment goes: statements, rows, WAL, functions; for settle and create
npm run bench -- --against <commit> create settle
                                 in turns with another commit; --rounds <n> for each (default 3)
npm run bench -- soak            30 minutes at half of the maximum, with faults; --minutes <n> for another length

Figures: ${MEASUREMENTS.flatMap(({ names, isLarge }) => names.map((name) => (isLarge ? `${name} (large)` : name))).join(', ')}
`;

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void cleanUp().then(() => process.exit(1)));
}
process.exitCode = await main(process.argv.slice(2)).finally(cleanUp);

async function cleanUp(): Promise<void> {
  await stopAllProcesses();
  await removeAllFolders();
}

async function main(args: readonly string[]): Promise<number> {
  if (args[0] === 'soak') return runSoak(args.slice(1));
  const { values, positionals: named } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      large: { type: 'boolean', default: false },
      payments: { type: 'string' },
      statements: { type: 'boolean', default: false },
      against: { type: 'string' },
      rounds: { type: 'string', default: '3' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const payments = values.payments === undefined ? undefined : Number(values.payments);
  const known = new Set(MEASUREMENTS.flatMap(({ names }) => names));
  // The name of a single figure chooses it alone, and any other beginning of names all of them.
  const choose = (word: string) =>
    known.has(word) ? [word] : [...known].filter((name) => name.startsWith(`${word}_`));
  const picked = new Set(named.flatMap(choose));
  const isCount = payments === undefined || (Number.isSafeInteger(payments) && payments >= FEWEST_PAYMENTS);
  if (named.some((word) => choose(word).length === 0) || !isCount) {
    process.stderr.write(USAGE);
    return 2;
  }
  if (values.against !== undefined) {
    return measureAgainst(values.against, { figures: named, rounds: Number(values.rounds) });
  }
  const chosen = MEASUREMENTS.map((measurement) => ({
    measurement,
    wanted: new Set(
      measurement.names.filter((name) =>
        named.length > 0 ? picked.has(name) : values.large || measurement.isLarge === undefined,
      ),
    ),
  })).filter(({ wanted }) => wanted.size > 0);

  await requireWrk();
  const figures: Figure[] = [];
  for (const { measurement, wanted } of chosen) {
    for (const figure of await measurement.measure(wanted, { payments, isCounting: values.statements })) {
      figures.push(figure);
      process.stdout.write(textOf(figure));
    }
  }
  const results = { takenAt: new Date().toISOString(), machine: describeMachine(), figures };
  await writeFile(new URL('./results.json', import.meta.url), `${JSON.stringify(results, null, 2)}\n`);
  return 0;
}

function textOf(figure: Figure): string {
  const { name, value, unit, target, detail } = figure;
  const rule = 'atLeast' in target ? `at least ${target.atLeast}` : `at most ${target.atMost}`;
  const lines = Object.entries(detail).map(([what, raw]) => `  ${what}: ${Array.isArray(raw) ? raw.join(' ') : raw}\n`);
  const verdict = isMet(figure) ? '' : ', missed';
  return `${name}: ${value}${unit === 'x' ? '' : ` ${unit}`}\n  target: ${rule}${verdict}\n${lines.join('')}`;
}

/** Figures of different machines cannot be compared, so each names its machine. */
function describeMachine() {
  const [cpu] = cpus();
  return {
    processor: cpu?.model ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
    wrk: versionOf('wrk', ['-v']),
    pgbench: versionOf('pgbench', ['--version']),
  };
}

/** Some programs print their version with a failing exit code. */
function versionOf(program: string, args: readonly string[]): string {
  try {
    return firstLine(execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }));
  } catch (error) {
    return firstLine(String((error as { stdout?: unknown }).stdout ?? ''));
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.trim() || 'unknown';
}
