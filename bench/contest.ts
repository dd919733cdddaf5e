import { readCpuUse } from './cpu-use.ts';
import { compare, type Figure, median, round } from './figures.ts';
import { createQuiet, type Quiet } from './quiet.ts';
import type { LoadResult } from './wrk.ts';

/** One side of a comparison over HTTP. */
export interface Side {
  readonly name: string;
  readonly pid: number;
  run(input: { connections: number; seconds: number; isWarmUp?: boolean }): Promise<LoadResult>;
  /** Runs before every turn, outside the measurement. */
  prepare?(): Promise<void>;
}

export interface Turn extends LoadResult {
  /** The share of the machine that other programs used. */
  readonly others: number;
  readonly ownUs: number;
  readonly belowUs: number;
}

const WARM_UP_SECONDS = 5;
const TRIAL_SECONDS = 2;
const TRIALS = 2;
const CONNECTIONS = [32, 64, 128, 256] as const;

/**
 * Warms each side up and finds its fastest number of connections: with too few or too many clients a side is not at its
 * best.
 */
export async function findBestConnections(side: Side): Promise<number> {
  await side.run({ connections: CONNECTIONS[1], seconds: WARM_UP_SECONDS, isWarmUp: true });
  const rates = new Map<number, number[]>(CONNECTIONS.map((connections) => [connections, []]));
  for (let trial = 0; trial < TRIALS; trial += 1) {
    for (const [connections, found] of rates) {
      await side.prepare?.();
      found.push((await side.run({ connections, seconds: TRIAL_SECONDS })).perSecond);
    }
  }
  const [best] = [...rates].toSorted(([, a], [, b]) => Math.max(...b) - Math.max(...a));
  return best?.[0] ?? CONNECTIONS[0];
}

/** One measured turn, with the processor time it took per request. */
export async function takeTurn(
  quiet: Quiet,
  side: Side,
  input: { connections: number; seconds: number },
): Promise<Turn> {
  const { result, others } = await quiet(async () => {
    await side.prepare?.();
    const before = await readCpuUse(side.pid);
    const load = await side.run(input);
    return { load, before, after: await readCpuUse(side.pid) };
  });
  const { load, before, after } = result;
  const requests = load.perSecond * input.seconds;
  return {
    ...load,
    others,
    ownUs: ((after.ownMs - before.ownMs) * 1_000) / requests,
    belowUs: ((after.belowMs - before.belowMs) * 1_000) / requests,
  };
}

/** Both sides in turns, each with its own best number of connections. */
export async function contest(
  [ours, theirs]: readonly [Side, Side],
  { name, atLeast, rounds, seconds }: { name: string; atLeast: number; rounds: number; seconds: number },
): Promise<Figure> {
  const best = [await findBestConnections(ours), await findBestConnections(theirs)] as const;
  const quiet = createQuiet();
  const turns: [Turn[], Turn[]] = [[], []];
  for (let done = 0; done < rounds; done += 1) {
    turns[0].push(await takeTurn(quiet, ours, { connections: best[0], seconds }));
    turns[1].push(await takeTurn(quiet, theirs, { connections: best[1], seconds }));
  }
  const { ratio, byRound } = compare(turns[0].map(perSecond), turns[1].map(perSecond));
  return {
    name,
    value: ratio,
    target: { atLeast },
    unit: 'x',
    detail: {
      ...describeTurns(ours.name, best[0], turns[0]),
      ...describeTurns(theirs.name, best[1], turns[1]),
      'ratio by round': byRound,
      ...describeOthers(turns.flat().map(({ others }) => others)),
    },
  };
}

export function describeTurns(name: string, connections: number, turns: readonly Turn[]) {
  const middle = (value: (turn: Turn) => number) => round(median(turns.map(value)), 1);
  return {
    [`${name}, requests/s over ${connections} connections`]: turns.map((turn) => round(turn.perSecond)),
    [`${name}, p50 and p99 in ms`]: [middle((turn) => turn.p50Ms), middle((turn) => turn.p99Ms)],
    [`${name}, processor time per request in µs: its process, those below it`]: [
      middle((turn) => turn.ownUs),
      middle((turn) => turn.belowUs),
    ],
  };
}

/** A figure measured on a busy machine is marked. */
export function describeOthers(shares: readonly number[]) {
  const percent = (share: number) => round(share * 100);
  return {
    'other programs on the machine, median and most in %': [percent(median(shares)), percent(Math.max(...shares))],
  };
}

export function perSecond(result: LoadResult): number {
  return result.perSecond;
}
