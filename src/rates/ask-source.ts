import type { World } from '../runtime/world.ts';
import { keyOf, type RateBook } from './rate-book.ts';
import { type PairAnswer, type RateSource, RateSourceError, type SourceRequest } from './rates.ts';

interface AskDeps {
  readonly world: Pick<World, 'clock'>;
  readonly book: RateBook;
  readonly stop: AbortSignal;
}

/** Makes a request to a source and stores its prices in the rate book. Resolves with a price or a reason for each pair; never throws. */
export async function askSource(
  { world, book, stop }: AskDeps,
  { source, request }: { readonly source: RateSource; readonly request: SourceRequest },
): Promise<readonly PairAnswer[]> {
  // The time of the request, so that a slow answer does not make a price look younger than it is.
  const atMs = world.clock.nowMs();
  const { answers, fault } = await read(request, stop);
  return request.pairs.map((pair): PairAnswer => {
    const answer = answers.find((one) => keyOf(one) === keyOf(pair));
    if (answer === undefined || 'fault' in answer) return answer ?? { ...pair, fault };
    const { base, quote, price } = answer;
    const isPrice = book.note({ base, quote, source: source.name, price, atMs }, source);
    return isPrice ? answer : { base, quote, fault: 'sent something that is not a price' };
  });
}

async function read(
  request: SourceRequest,
  stop: AbortSignal,
): Promise<{ readonly answers: readonly PairAnswer[]; readonly fault: string }> {
  try {
    return { answers: await request.read(stop), fault: 'did not answer for it' };
  } catch (error) {
    return { answers: [], fault: error instanceof RateSourceError ? error.message : 'failed' };
  }
}
