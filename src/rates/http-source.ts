import type { Timers } from '../runtime/world.ts';
import { fetchAnswer } from './fetch-answer.ts';
import { parseJson, textAt } from './json.ts';
import type { HttpSourceTerms, RateRequest } from './rate-sources.ts';
import { LIVE, type RateSource, RateSourceError, type SourceRequest } from './rates.ts';

/** Creates a rate source that the operator configured. Each of its requests asks for one pair. */
export function createHttpSource(timers: Timers, { name, requests }: HttpSourceTerms): RateSource {
  return { ...LIVE, name, requests: requests.map((request) => requestOf(timers, request)) };
}

function requestOf(timers: Timers, { base, quote, url, path }: RateRequest): SourceRequest {
  return {
    pairs: [{ base, quote }],
    async read(signal) {
      const price = textAt(parseJson(await fetchAnswer(timers, url, signal)), path);
      if (price === undefined) throw new RateSourceError('sent no price at the place it should stand');
      return [{ base, quote, price }];
    },
  };
}
