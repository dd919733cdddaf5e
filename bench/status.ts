import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBareServer } from './bare.ts';
import { createPayments } from './calls.ts';
import { compare, type Measurement, median, round } from './figures.ts';
import { addMerchants, settle, startGateway } from './gateway.ts';
import { type LoadResult, runWrk } from './wrk.ts';

const MERCHANTS = 50;
const PAYMENTS = 1_000;
const CONNECTIONS = 128;
const WARM_UP_SECONDS = 5;
const ROUND_SECONDS = 4;
const ROUNDS = 7;

/** Asking for the status of payments that are still open, which may not come from memory, beside a constant. */
export const statusMeasurement: Measurement = {
  names: ['status'],
  async measure() {
    const folder = await mkdtemp(join(tmpdir(), 'till-bench-'));
    const gateway = await startGateway();
    const bare = await startBareServer();
    try {
      await addMerchants(gateway, MERCHANTS);
      const payments = await createPayments(gateway, { count: PAYMENTS, merchants: MERCHANTS });
      const file = join(folder, 'payments');
      await writeFile(file, payments.map(({ id, merchant }) => `${id} ${merchant}\n`).join(''));
      const load = (port: number, seconds: number, isWarmUp = false) =>
        runWrk({ script: 'status', port, connections: CONNECTIONS, seconds, isWarmUp, args: [gateway.apiKey, file] });

      await settle(gateway);
      await load(gateway.port, WARM_UP_SECONDS, true);
      await load(bare.port, WARM_UP_SECONDS, true);
      const ours: LoadResult[] = [];
      const theirs: LoadResult[] = [];
      for (let done = 0; done < ROUNDS; done += 1) {
        ours.push(await load(gateway.port, ROUND_SECONDS));
        theirs.push(await load(bare.port, ROUND_SECONDS));
      }
      const { ratio, byRound } = compare(
        ours.map(({ perSecond }) => perSecond),
        theirs.map(({ perSecond }) => perSecond),
      );
      return [
        {
          name: 'status',
          value: ratio,
          target: { atLeast: 0.8 },
          unit: 'x',
          detail: {
            'gateway, requests/s': ours.map(({ perSecond }) => round(perSecond)),
            'gateway, p50 and p99 in ms': [median(ours.map((r) => r.p50Ms)), median(ours.map((r) => r.p99Ms))],
            'bare Fastify, requests/s': theirs.map(({ perSecond }) => round(perSecond)),
            'bare Fastify, p50 and p99 in ms': [median(theirs.map((r) => r.p50Ms)), median(theirs.map((r) => r.p99Ms))],
            connections: CONNECTIONS,
            'ratio by round': byRound,
          },
        },
      ];
    } finally {
      await bare.stop();
      await gateway.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};
