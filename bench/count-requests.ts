import type { Side } from './contest.ts';
import { readCpuUse } from './cpu-use.ts';
import { beginCounting } from './database-counts.ts';
import { print, round } from './figures.ts';
import { type Gateway, settle } from './gateway.ts';
import { beginProfile } from './processor-profile.ts';

const CONNECTIONS = 64;
const SECONDS = 4;

/** Prints where the time of a request goes. A profile slows the gateway, so it is taken of a turn of its own. */
export async function countRequests(gateway: Gateway, side: Side, inspectPort: number): Promise<void> {
  const turn = async () => {
    await settle(gateway);
    const before = await readCpuUse(gateway.pid);
    const { perSecond } = await side.run({ connections: CONNECTIONS, seconds: SECONDS });
    const after = await readCpuUse(gateway.pid);
    const requests = perSecond * SECONDS;
    const each = (ms: number) => round((ms * 1_000) / requests, 1);
    return { requests, eachUs: [each(after.ownMs - before.ownMs), each(after.belowMs - before.belowMs)] };
  };
  await side.run({ connections: CONNECTIONS, seconds: SECONDS, isWarmUp: true });
  await settle(gateway);
  const endCounting = await beginCounting(gateway.sql);
  const counted = await turn();
  const { lines } = await endCounting(counted.requests);
  const endProfile = await beginProfile(inspectPort, side.name);
  const profiled = await turn();
  const functions = await endProfile(profiled.requests);
  print([
    `processor time of a request in µs: gateway, PostgreSQL: ${counted.eachUs.join(', ')}`,
    ...lines,
    ...functions,
  ]);
}
