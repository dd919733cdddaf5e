import type { World } from '../runtime/world.ts';
import { keyOf, type RateBook } from './rate-book.ts';
import { type PairAnswer, type RateSource, RateSourceError, type SourceRequest } from './rates.ts';

interface AskDeps {
  readonly world: Pick<World, 'clock'>;
  readonly book: RateBook;
  readonly stop: AbortSignal;
}

export interface Asked {
  /** False if there was no price at all in the answer. */
  readonly isAnswered: boolean;
  readonly answers: readonly PairAnswer[];
  /** By the key of the pair: the reason why there is no price for it. */
  readonly faults: ReadonlyMap<string, string>;
}

/** Makes a request to a source and notes its prices in the book. Never throws. */
export async function askSource(
  { world, book, stop }: AskDeps,
  { source, request }: { readonly source: RateSource; readonly request: SourceRequest },
): Promise<Asked> {
  // The time of the request, so that a slow answer does not make a price look younger than it is.
  const atMs = world.clock.nowMs();
  try {
    const answers = await request.read(stop);
    const faults = request.pairs.flatMap((pair): [string, string][] => {
      const answer = answers.find((one) => keyOf(one) === keyOf(pair));
      if (answer === undefined) return [[keyOf(pair), 'did not answer for it']];
      if ('fault' in answer) return [[keyOf(pair), answer.fault]];
      const { base, quote, price } = answer;
      const isPrice = book.note({ base, quote, source: source.name, price, atMs }, source);
      return isPrice ? [] : [[keyOf(pair), 'sent something that is not a price']];
    });
    return { isAnswered: faults.length < request.pairs.length, answers, faults: new Map(faults) };
  } catch (error) {
    const fault = error instanceof RateSourceError ? error.message : 'failed';
    return { isAnswered: false, answers: [], faults: new Map(request.pairs.map((pair) => [keyOf(pair), fault])) };
  }
}
