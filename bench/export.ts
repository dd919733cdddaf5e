import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { type Figure, type Measurement, median, round } from './figures.ts';
import { addMerchants, type Gateway, startGateway, USUAL_LIMITS } from './gateway.ts';
import { loadPayments } from './loader.ts';

const PAYMENTS = 500_000;
const MERCHANTS = 100;
const FORMATS = ['csv', 'jsonl'] as const;
const ROUNDS = 3;
const SAMPLE_EVERY_MS = 100;

/** Exports of all payments of a partner, with the usual limits in force. */
export const exportMeasurement: Measurement = {
  names: ['export', 'export_memory'],
  async measure(_wanted, { payments = PAYMENTS }) {
    // A busy machine must not turn the exports away.
    const started = await startGateway({ ...USUAL_LIMITS, MAX_EVENT_LOOP_DELAY_MS: '0' });
    await addMerchants(started, MERCHANTS);
    const perMerchant = Math.round(payments / MERCHANTS);
    const gateway = await started.restart((sql) => loadPayments(sql, { merchants: MERCHANTS, perMerchant }));
    try {
      return await measureExports(gateway, perMerchant * MERCHANTS);
    } finally {
      await gateway.stop();
    }
  },
};

async function measureExports(gateway: Gateway, payments: number): Promise<Figure[]> {
  const speeds: Record<string, number[]> = {};
  const growth: number[] = [];
  // The first export warms the caches of the database.
  await exportOnce(gateway, 'csv', payments);
  for (let done = 0; done < ROUNDS; done += 1) {
    for (const format of FORMATS) {
      const { perSecond, grownMb } = await exportOnce(gateway, format, payments);
      speeds[format] = [...(speeds[format] ?? []), round(perSecond)];
      growth.push(round(grownMb, 1));
    }
  }
  const slowest = Math.min(...Object.values(speeds).map(median));
  return [
    {
      name: 'export',
      value: round(slowest),
      target: { atLeast: 50_000 },
      unit: '/s',
      detail: { payments, ...speeds },
    },
    {
      name: 'export_memory',
      value: Math.max(...growth) * 1_000,
      target: { atMost: 100_000 },
      unit: 'KB',
      detail: { 'growth of the process during each export, MB': growth },
    },
  ];
}

async function exportOnce(gateway: Gateway, format: (typeof FORMATS)[number], payments: number) {
  const before = await residentMb(gateway.pid);
  let most = before;
  const sampling = setInterval(() => {
    void residentMb(gateway.pid).then((now) => {
      most = Math.max(most, now);
    });
  }, SAMPLE_EVERY_MS);
  const startedAt = performance.now();
  const lines = await countLines(gateway, `/v1/exports/payments?format=${format}`);
  const seconds = (performance.now() - startedAt) / 1_000;
  clearInterval(sampling);
  const expected = format === 'csv' ? payments + 1 : payments;
  if (lines < expected) throw new Error(`The export has ${lines} lines instead of ${expected}.`);
  return { perSecond: payments / seconds, grownMb: most - before };
}

function countLines({ port, apiKey }: Gateway, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get({ port, path, headers: { 'Api-Key': apiKey } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`The export was answered with ${response.statusCode}.`));
      let lines = 0;
      response.on('data', (chunk: Buffer) => {
        for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
      });
      response.on('end', () => (response.complete ? resolve(lines) : reject(new Error('The export broke off.'))));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}

async function residentMb(pid: number): Promise<number> {
  // The process may have ended by then.
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1_000;
}
