import {
  describeOthers,
  describeTurns,
  findBestConnections,
  perSecond,
  type Side,
  type Turn,
  takeTurn,
} from './contest.ts';
import { countRequests } from './count-requests.ts';
import { compare, type Figure, type Measurement, round } from './figures.ts';
import { addMerchants, type Gateway, HIGH_LIMITS, settle, startGateway } from './gateway.ts';
import { findBestPeer, runPgbench } from './pgbench.ts';
import { freePort } from './processes.ts';
import { createQuiet } from './quiet.ts';
import { runWrk } from './wrk.ts';

const MERCHANTS = 50;
const SECONDS = 4;
const ROUNDS = 5;

/** Creating payments, compared with pgbench writing the same rows. */
export const createMeasurement: Measurement = {
  names: ['create'],
  async measure(_, { isCounting }) {
    if (isCounting) {
      await countCreate();
      return [];
    }
    const gateway = await startGateway();
    try {
      await addMerchants(gateway, MERCHANTS);
      return [await besidePgbench(gateway)];
    } finally {
      await gateway.stop();
    }
  },
};

async function countCreate(): Promise<void> {
  const inspectPort = await freePort();
  const gateway = await startGateway(HIGH_LIMITS, inspectPort);
  try {
    await addMerchants(gateway, MERCHANTS);
    await countRequests(gateway, { ...createSide(gateway), name: 'create' }, inspectPort);
  } finally {
    await gateway.stop();
  }
}

async function besidePgbench(gateway: Gateway): Promise<Figure> {
  const [partner] = await gateway.sql<{ id: string }[]>`select id from partners`;
  const rows = { merchants: MERCHANTS, partnerId: partner?.id ?? '' };
  const ours = createSide(gateway);
  const connections = await findBestConnections(ours);
  const { best, tried } = await findBestPeer(gateway, rows);
  const quiet = createQuiet();
  const turns: Turn[] = [];
  const theirs: { result: number; others: number }[] = [];
  const changesLeft: number[] = [];
  for (let done = 0; done < ROUNDS; done += 1) {
    turns.push(await takeTurn(quiet, ours, { connections, seconds: SECONDS }));
    changesLeft.push(await settle(gateway));
    theirs.push(await quiet(() => runPgbench(gateway, { ...best, ...rows, seconds: SECONDS })));
  }
  const pgbench = theirs.map(({ result }) => result);
  const { ratio, byRound } = compare(turns.map(perSecond), pgbench);
  return {
    name: 'create',
    value: ratio,
    target: { atLeast: 1.2 },
    unit: 'x',
    detail: {
      ...describeTurns('gateway', connections, turns),
      'gateway, changes of statistics and batches of events left after a round': changesLeft,
      [`pgbench, payments/s with ${best.clients} clients and ${best.script}`]: pgbench.map((value) => round(value)),
      'pgbench, tried': Object.entries(tried)
        .map(([what, value]) => `${what}: ${value}`)
        .join('; '),
      'ratio by round': byRound,
      ...describeOthers([...turns, ...theirs].map(({ others }) => others)),
    },
  };
}

let runs = 0;
/** Creates payments with the gateway's key. */
export function createSide(gateway: Gateway): Side {
  return {
    name: 'gateway',
    pid: gateway.pid,
    prepare: async () => void (await settle(gateway)),
    run: (input) => {
      // Idempotency keys must not repeat, in this run or in an earlier one on the same data.
      runs += 1;
      const seed = (Date.now() % 1_000_000) * 1_000 + runs;
      const expiresAt = Math.floor(Date.now() / 1000) + 24 * 3600;
      return runWrk({
        ...input,
        script: 'create',
        port: gateway.port,
        args: [gateway.apiKey, MERCHANTS, expiresAt, seed],
      });
    },
  };
}
