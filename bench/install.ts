import { join } from 'node:path';
import { pino } from 'pino';
import { makeRoot } from '../deploy/image/make-root.ts';
import { systemWorld } from '../src/runtime/system-world.ts';
import { startEmbeddedPostgres } from '../src/sandbox/embedded-postgres.ts';
import { enteredImage, missingRights, sizeOf } from '../test/deploy/image-root.ts';
import { type Figure, type Measurement, median, round } from './figures.ts';
import { BENCH_SECRET } from './gateway.ts';
import { startPayingChain } from './paying-chain.ts';
import { freePort, startProgram, stopProcess, until } from './processes.ts';
import { makeFolder } from './temporary.ts';

/** The container image: its size unpacked, and the time from its start to the first request that it takes. */
export const installMeasurement: Measurement = { names: ['install_size', 'install_start'], measure };

const STARTS = 5;
const READY_WITHIN_MS = 120_000;

async function measure(wanted: ReadonlySet<string>): Promise<Figure[]> {
  const folder = await makeFolder();
  const root = join(folder, 'root');
  await makeRoot(root);
  const megabytes = round(sizeOf(root) / 1e6);
  const size: Figure = {
    name: 'install_size',
    value: megabytes,
    target: { atMost: 250 },
    unit: 'MB',
    detail: {
      'of it Node': round(sizeOf(join(root, 'usr')) / 1e6),
      'of it packages': round(sizeOf(join(root, 'opt/till/node_modules')) / 1e6),
    },
  };
  if (!wanted.has('install_start')) return [size];
  const missing = missingRights();
  if (missing !== false) {
    process.stdout.write(`install_start: ${missing}\n`);
    return wanted.has('install_size') ? [size] : [];
  }
  const start = await startFigure(folder, root);
  return wanted.has('install_size') ? [size, start] : [start];
}

async function startFigure(folder: string, root: string): Promise<Figure> {
  const deps = { world: systemWorld, log: pino({ level: 'silent' }) };
  const postgres = await startEmbeddedPostgres(deps, { dir: join(folder, 'postgres') });
  const chain = await startPayingChain();
  try {
    const own = await makeFolder();
    const { node, main } = enteredImage(root, own);
    const times: number[] = [];
    // The first start also migrates the database.
    for (let count = 0; count <= STARTS; count += 1) {
      const port = await freePort();
      const beganAt = performance.now();
      const child = startProgram(node, ['--max-semi-space-size=64', main], own, {
        DATABASE_URL: postgres.url,
        RPC_URLS: `eip155:31337=${chain.rpcUrl}`,
        TILL_SECRET: Buffer.from(BENCH_SECRET).toString('base64'),
        TILL_HOME: '/var/lib/till',
        METRICS_PORT: '0',
        DRAIN_MS: '0',
        LOG_LEVEL: 'warn',
        PORT: String(port),
      });
      const isReady = async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined);
        return answer?.status === 200 ? true : undefined;
      };
      await until('the image takes requests', isReady, { withinMs: READY_WITHIN_MS });
      times.push(round(performance.now() - beganAt));
      await stopProcess(child);
    }
    const [first = 0, ...others] = times;
    return {
      name: 'install_start',
      value: median(others),
      target: { atMost: 5_000 },
      unit: 'ms',
      detail: { 'by start': others, 'first start, with all migrations': first },
    };
  } finally {
    await chain.stop();
    await postgres.stop();
  }
}
