import type { Pair } from '../domain/rate.ts';
import { backoffMs, withJitter } from '../runtime/backoff.ts';
import type { Log, World } from '../runtime/world.ts';
import { createRateBook, keyOf, type RateBook, type RateRules } from './rate-book.ts';
import { type RateSource, RateSourceError, type Rates } from './rates.ts';

export interface FollowDeps {
  readonly world: World;
  readonly log: Log;
  readonly sources: readonly RateSource[];
  /** Called at every check of a pair, with the reason why it has no rate, or undefined if it has one. */
  readonly report: (pair: string, problem: string | undefined) => Promise<void>;
}

/** A price may miss three readings before it is too old. Honest markets differ by less than 1 %, faulty sources by more. */
const RULES: RateRules = { maxAgeMs: 60_000, maxDeviationBasisPoints: 100, rememberedMs: 360_000 };
const EVERY_MS = 15_000;
/** The first retries are quick, so that a new price arrives before the old one expires. A source that stays away is asked less. */
const RETRY = { firstMs: 2_000, maxMs: 300_000 };

/** Polls every pair of every source, and answers from the last readings. */
export function followRates(deps: FollowDeps): Rates & { stop(): Promise<void> } {
  const stop = new AbortController();
  const asked = deps.sources.flatMap((source) => source.pairs.map((pair) => ({ source, pair })));
  const book = createRateBook(
    asked.map(({ pair }) => pair),
    RULES,
  );
  const following = { ...deps, book, stop: stop.signal };
  const byPair = Map.groupBy(
    asked.map(({ source, pair }) => ({ source, pair, fault: undefined })),
    ({ pair }) => keyOf(pair),
  );
  const loops = [...byPair].flatMap(([key, lines]) => [
    ...lines.map((line) => follow(following, line)),
    watch(following, key, lines),
  ]);
  return {
    rateOf: book.rateOf,
    wasInForce: book.wasInForce,
    covers: book.covers,
    async stop() {
      stop.abort();
      await Promise.all(loops);
    },
  };
}

interface Following extends FollowDeps {
  readonly book: RateBook;
  readonly stop: AbortSignal;
}

/** One pair of one source, polled by itself. */
interface Line {
  readonly source: RateSource;
  readonly pair: Pair;
  fault: string | undefined;
}

async function follow(deps: Following, line: Line): Promise<void> {
  const { world, log, stop } = deps;
  const subject = { source: line.source.name, pair: `${line.pair.base}/${line.pair.quote}` };
  let failures = 0;
  while (!stop.aborted) {
    line.fault = await read(deps, line);
    if (stop.aborted) return;
    if (line.fault === undefined) {
      if (failures > 0) log.info({ ...subject, failures }, 'rate source answers again');
      failures = 0;
    } else {
      failures += 1;
      if (failures === 1) log.warn({ ...subject, fault: line.fault }, 'rate source failed');
    }
    await world.timers.sleep(withJitter(world, failures === 0 ? EVERY_MS : backoffMs(RETRY, failures)), stop);
  }
}

/** Records a reading of the source. Returns the reason if that fails. */
async function read({ world, book, stop }: Following, { source, pair }: Line): Promise<string | undefined> {
  // The time of the request, so that a slow answer does not make a price look younger than it is.
  const atMs = world.clock.nowMs();
  try {
    const price = await source.read(pair, stop);
    return book.note({ ...pair, source: source.name, price, atMs }) ? undefined : 'sent something that is not a price';
  } catch (error) {
    return error instanceof RateSourceError ? error.message : 'failed';
  }
}

async function watch(deps: Following, pair: string, lines: readonly Line[]): Promise<void> {
  const { world, log, book, stop } = deps;
  const [base = '', quote = ''] = pair.split('/');
  while (!stop.aborted) {
    // The loop begins with a pause, because the sources were asked a moment ago.
    await world.timers.sleep(EVERY_MS, stop);
    if (stop.aborted) return;
    const hasRate = book.rateOf(base, quote, world.clock.nowMs()) !== undefined;
    await deps.report(pair, hasRate ? undefined : describe(deps, pair, lines)).catch((error: unknown) => {
      log.warn({ pair, err: error }, 'the state of a rate could not be reported');
    });
  }
}

/** The state of each source, so that an operator sees which source to check. */
function describe({ world, book }: Following, pair: string, lines: readonly Line[]): string {
  const [base = '', quote = ''] = pair.split('/');
  const fresh = book.freshReadings({ base, quote }, world.clock.nowMs());
  const views = lines.map(({ source, fault }) => {
    const reading = fresh.find((one) => one.source === source.name);
    if (reading !== undefined) return `${source.name} says ${reading.base}/${reading.quote} is ${reading.price}`;
    return `${source.name} ${fault ?? 'has not answered'}`;
  });
  return `There is no rate for ${pair}, because too few sources agree: ${views.join('; ')}.`;
}
