import { backoffMs, withJitter } from '../runtime/backoff.ts';
import type { Log, World } from '../runtime/world.ts';
import { askSource } from './ask-source.ts';
import { createRateBook, keyOf, type RateBook, type RateRules } from './rate-book.ts';
import type { RateSource, Rates, SourceRequest } from './rates.ts';

export interface FollowDeps {
  readonly world: World;
  readonly log: Log;
  readonly sources: readonly RateSource[];
  /** Called at every check of a pair, with the reason why it has no rate, or undefined if it has one. */
  readonly report: (pair: string, problem: string | undefined) => Promise<void>;
}

/** The rules of the rate book. Honest markets differ by less than 1 %, faulty sources by more. */
export const RULES: RateRules = { maxDeviationBasisPoints: 100, rememberedMs: 360_000 };
const CHECK_EVERY_MS = 15_000;
/**
 * The pauses before retries. The first pauses are short, so that a new price arrives before the old one expires. After further
 * failures a source is requested less often.
 */
const RETRY = { firstMs: 2_000, maxMs: 300_000 };

/** Polls all rate sources in the background, and computes rates from their last prices. */
export function followRates(deps: FollowDeps): Rates & { stop(): Promise<void> } {
  const stop = new AbortController();
  const lines = deps.sources.flatMap((source) =>
    source.requests.map((request): Line => ({ source, request, faults: new Map() })),
  );
  const byPair = Map.groupBy(
    lines.flatMap((line) => line.request.pairs.map((pair) => ({ key: keyOf(pair), pair, line }))),
    ({ key }) => key,
  );
  const book = createRateBook(
    [...byPair.values()].flatMap(([first]) => first?.pair ?? []),
    RULES,
  );
  const following = { ...deps, book, stop: stop.signal };
  const loops = [
    ...lines.map((line) => follow(following, line)),
    ...[...byPair].map(([key, asked]) =>
      watch(
        following,
        key,
        asked.map(({ line }) => line),
      ),
    ),
  ];
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

/** A request to a rate source. It is repeated independently of all other requests. */
interface Line {
  readonly source: RateSource;
  readonly request: SourceRequest;
  /** The pairs without a price in the last answer: the key of each pair, and the reason. */
  faults: ReadonlyMap<string, string>;
}

async function follow(deps: Following, line: Line): Promise<void> {
  const { world, stop } = deps;
  const { everyMs } = line.source;
  let failures = 0;
  while (!stop.aborted) {
    const answers = await askSource(deps, line);
    if (stop.aborted) return;
    note(deps, line, new Map(answers.flatMap((one) => ('fault' in one ? [[keyOf(one), one.fault]] : []))));
    // An answer counts as failed only if it has no price at all. One missing pair is no reason to request a source less often.
    failures = answers.every((one) => 'fault' in one) ? failures + 1 : 0;
    await world.timers.sleep(withJitter(world, failures === 0 ? everyMs : backoffMs(RETRY, failures)), stop);
  }
}

/** Stores the faults of the last answer. Logs only when a fault begins or ends, because a source may lack a pair for years. */
function note({ log }: Following, line: Line, faults: ReadonlyMap<string, string>): void {
  const subject = (pairs: readonly string[]) => ({ source: line.source.name, pairs: pairs.join(' ') });
  const begun = [...faults.keys()].filter((key) => !line.faults.has(key));
  const ended = [...line.faults.keys()].filter((key) => !faults.has(key));
  for (const [fault, keys] of Map.groupBy(begun, (key) => faults.get(key))) {
    log.warn({ ...subject(keys), fault }, 'rate source failed');
  }
  if (ended.length > 0) log.info(subject(ended), 'rate source answers again');
  line.faults = faults;
}

async function watch(deps: Following, pair: string, lines: readonly Line[]): Promise<void> {
  const { world, log, book, stop } = deps;
  const [base = '', quote = ''] = pair.split('/');
  while (!stop.aborted) {
    // The loop begins with a pause, because the sources were asked a moment ago.
    await world.timers.sleep(CHECK_EVERY_MS, stop);
    if (stop.aborted) return;
    const hasRate = book.rateOf(base, quote, world.clock.nowMs()) !== undefined;
    await deps.report(pair, hasRate ? undefined : describe(deps, pair, lines)).catch((error: unknown) => {
      log.warn({ pair, err: error }, 'the state of a rate could not be reported');
    });
  }
}

/** The message about a pair without a rate. It gives the state of each source, so that an operator sees which source to check. */
function describe({ world, book }: Following, pair: string, lines: readonly Line[]): string {
  const [base = '', quote = ''] = pair.split('/');
  const { readings } = book.opinionsOf({ base, quote }, world.clock.nowMs());
  const views = lines.map(({ source, faults }) => {
    const reading = readings.find((one) => one.source === source.name);
    if (reading !== undefined) return `${source.name} says ${reading.base}/${reading.quote} is ${reading.price}`;
    return `${source.name} ${faults.get(pair) ?? 'has not answered'}`;
  });
  return `There is no rate for ${pair}, because too few sources agree: ${views.join('; ')}.`;
}
