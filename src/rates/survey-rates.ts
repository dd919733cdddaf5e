import { compare, decimalOf, type Pair, parsePrice, type Rate, type Ratio, ratio } from '../domain/rate.ts';
import type { World } from '../runtime/world.ts';
import { askSource } from './ask-source.ts';
import { RULES } from './follow-rates.ts';
import { createRateBook, inKeyDirection, keyOf } from './rate-book.ts';
import type { PairAnswer, RateSource, SourceKind } from './rates.ts';

/** A pair with the present answer of each of its sources. */
export interface PairSurvey extends Pair {
  /** The rate computed from `opinions`. Undefined if the sources do not agree. */
  readonly rate: Rate | undefined;
  readonly opinions: readonly Opinion[];
}

export interface Opinion {
  readonly source: string;
  readonly kind: SourceKind;
  readonly answer: PairAnswer;
  /** The price in the direction of the surveyed pair. Undefined if the answer has no price. */
  readonly value: Ratio | undefined;
  /** The reason why the price is not part of the rate. Undefined if it is part of the rate. */
  readonly leftOut: string | undefined;
}

export interface Survey {
  readonly pairs: readonly PairSurvey[];
  /** The pairs with sources that the rate of a pair is computed from. None if a pair has no sources and cannot be crossed. */
  legsOf(pair: Pair): readonly Pair[];
}

/** Asks every source once, and judges the answers by the same rules as `followRates`. */
export async function surveyRates(
  { world, stop }: { readonly world: Pick<World, 'clock'>; readonly stop: AbortSignal },
  sources: readonly RateSource[],
): Promise<Survey> {
  const requests = sources.flatMap((source) => source.requests.map((request) => ({ source, request })));
  const asked = [...Map.groupBy(requests.flatMap(({ request }) => request.pairs).map(upright), keyOf).values()];
  const pairs = asked.flatMap(([first]) => first ?? []);
  const book = createRateBook(pairs, RULES);
  const answers = await Promise.all(
    requests.map(async ({ source, request }) =>
      (await askSource({ world, book, stop }, { source, request })).map((answer) => ({ source, answer })),
    ),
  );
  const byPair = Map.groupBy(answers.flat(), ({ answer }) => keyOf(answer));
  return {
    legsOf: book.legsOf,
    pairs: pairs.map((pair) => {
      const { rate } = book.opinionsOf(pair, world.clock.nowMs());
      const said = (byPair.get(keyOf(pair)) ?? []).map(({ source: { name, kind }, answer }) => ({
        source: name,
        kind,
        answer,
        value: priceIn(pair, answer),
      }));
      const live = said.filter((one) => one.kind === 'live' && one.value !== undefined).length;
      return { ...pair, rate, opinions: said.map((one) => ({ ...one, leftOut: leftOut(one, rate, live) })) };
    }),
  };
}

/** Turns a pair with the dollar so that the dollar is the quote, because people read prices of coins and currencies in dollars. */
function upright({ base, quote }: Pair): Pair {
  return base === 'USD' ? { base: quote, quote: base } : { base, quote };
}

function priceIn(pair: Pair, answer: PairAnswer): Ratio | undefined {
  const price = 'price' in answer ? parsePrice(answer.price) : undefined;
  return price && inKeyDirection(pair, inKeyDirection(answer, price));
}

function leftOut(
  { source, kind, answer, value }: Omit<Opinion, 'leftOut'>,
  rate: Rate | undefined,
  live: number,
): string | undefined {
  if ('fault' in answer) return answer.fault;
  if (rate?.readings.some((reading) => reading.source === source)) return undefined;
  if (kind === 'reference' && live !== 1)
    return live === 0 ? 'confirms no live price' : 'is not needed beside live prices';
  if (rate === undefined || value === undefined) return 'has too few others that agree';
  return `differs from the rate by ${percentBetween(value, rate.value)} %`;
}

function percentBetween(a: Ratio, b: Ratio): string {
  const [low, high] = compare(a, b) < 0 ? [a, b] : [b, a];
  const difference = high.numerator * low.denominator - low.numerator * high.denominator;
  return difference === 0n ? '0' : decimalOf(ratio(100n * difference, low.numerator * high.denominator), 3);
}
