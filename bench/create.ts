import { startBareServer } from './bare.ts';
import { compare, type Figure, type Measurement, median, round } from './figures.ts';
import { addMerchants, type Gateway, settle, startGateway } from './gateway.ts';
import { findBestPeer, runPgbench } from './pgbench.ts';
import { type LoadResult, runWrk } from './wrk.ts';

const MERCHANTS = 50;
const CONNECTIONS = 128;
const WARM_UP_SECONDS = 5;
const ROUND_SECONDS = 5;
const ROUNDS = 5;

/** Creating payments, beside PostgreSQL's own benchmark writing the same rows, and beside HTTP that writes nothing. */
export const createMeasurement: Measurement = {
  names: ['create', 'create_http'],
  async measure(wanted) {
    const gateway = await startGateway();
    const bare = await startBareServer();
    try {
      await addMerchants(gateway, MERCHANTS);
      for (const { port } of [gateway, bare]) {
        await createLoad(gateway, { port, seconds: WARM_UP_SECONDS, isWarmUp: true });
      }
      return [
        ...(wanted.has('create') ? [await besidePgbench(gateway)] : []),
        ...(wanted.has('create_http') ? [await besideBareHttp(gateway, bare.port)] : []),
      ];
    } finally {
      await bare.stop();
      await gateway.stop();
    }
  },
};

async function besidePgbench(gateway: Gateway): Promise<Figure> {
  const [partner] = await gateway.sql<{ id: string }[]>`select id from partners`;
  const rows = { merchants: MERCHANTS, partnerId: partner?.id ?? '' };
  const { best, tried } = await findBestPeer(gateway, rows);
  const ours: LoadResult[] = [];
  const theirs: number[] = [];
  const changesLeft: number[] = [];
  for (let done = 0; done < ROUNDS; done += 1) {
    await settle(gateway);
    ours.push(await createLoad(gateway, { port: gateway.port, seconds: ROUND_SECONDS }));
    changesLeft.push(await settle(gateway));
    theirs.push(await runPgbench(gateway, { ...best, ...rows, seconds: ROUND_SECONDS }));
  }
  const { ratio, byRound } = compare(
    ours.map(({ perSecond }) => perSecond),
    theirs,
  );
  return {
    name: 'create',
    value: ratio,
    target: { atLeast: 1.2 },
    unit: 'x',
    detail: {
      ...detailOf(ours),
      'pgbench, payments/s': theirs.map((value) => round(value)),
      'pgbench at its best': `${best.clients} clients, ${best.script}`,
      'pgbench, tried': Object.entries(tried)
        .map(([name, value]) => `${name}: ${value}`)
        .join('; '),
      'statistics changes left to fold after a round': changesLeft,
      'ratio by round': byRound,
    },
  };
}

async function besideBareHttp(gateway: Gateway, barePort: number): Promise<Figure> {
  const ours: LoadResult[] = [];
  const theirs: LoadResult[] = [];
  for (let done = 0; done < ROUNDS; done += 1) {
    await settle(gateway);
    ours.push(await createLoad(gateway, { port: gateway.port, seconds: ROUND_SECONDS }));
    await settle(gateway);
    theirs.push(await createLoad(gateway, { port: barePort, seconds: ROUND_SECONDS }));
  }
  const { ratio, byRound } = compare(
    ours.map(({ perSecond }) => perSecond),
    theirs.map(({ perSecond }) => perSecond),
  );
  return {
    name: 'create_http',
    value: ratio,
    target: { atLeast: 0.7 },
    unit: 'x',
    detail: {
      ...detailOf(ours),
      'bare Fastify, requests/s': theirs.map(({ perSecond }) => round(perSecond)),
      'bare Fastify, p50 and p99 in ms': [median(theirs.map((r) => r.p50Ms)), median(theirs.map((r) => r.p99Ms))],
      'ratio by round': byRound,
    },
  };
}

function detailOf(rounds: readonly LoadResult[]) {
  return {
    'gateway, payments/s': rounds.map(({ perSecond }) => round(perSecond)),
    'gateway, p50 and p99 in ms': [median(rounds.map((r) => r.p50Ms)), median(rounds.map((r) => r.p99Ms))],
    'gateway, connections': CONNECTIONS,
  };
}

let runs = 0;
/** Creates at the port, which is the gateway's or the bare server's: both get the very same requests. */
export function createLoad(
  { apiKey }: Gateway,
  input: { port: number; seconds: number; isWarmUp?: boolean },
): Promise<LoadResult> {
  // Keys must not repeat, in this run or in an earlier one on the same data.
  runs += 1;
  const seed = (Date.now() % 1_000_000) * 1_000 + runs;
  const expiresAt = Math.floor(Date.now() / 1000) + 24 * 3600;
  const args = [apiKey, MERCHANTS, expiresAt, seed];
  return runWrk({ ...input, script: 'create', connections: CONNECTIONS, args });
}
