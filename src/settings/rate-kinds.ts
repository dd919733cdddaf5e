import { type HttpSourceTerms, parseRateSources } from '../rates/rate-sources.ts';
import { type Kind, Problem } from './kinds.ts';
import { secretsOfUrl } from './network-kinds.ts';

export function rateSources(): Kind<readonly HttpSourceTerms[]> {
  return {
    name: 'sources, such as `coinbase https://api.coinbase.com/v2/prices/{base}-{quote}/spot#/data/amount ETH/USD; …`',
    parse: (raw) => {
      const parsed = parseRateSources(raw);
      return parsed.ok ? parsed.value : new Problem(parsed.problem);
    },
    secretsOf: (sources) => sources.flatMap(({ requests }) => requests.flatMap(({ url }) => secretsOfUrl(url))),
  };
}
