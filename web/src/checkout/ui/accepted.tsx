import type { AcceptedToken } from '../api.ts';
import { Fold } from './fold.tsx';
import { TokenMark } from './pictures.tsx';
import { useWords } from './words.ts';

const SHOWN_TOKENS = 3;

/** The accepted tokens and networks, for an account without enough funds. */
export function Accepted({ accepted }: { readonly accepted: readonly AcceptedToken[] }) {
  const { strings } = useWords();
  return (
    <section className="accepted" aria-labelledby="accepted-title">
      <h3 className="accepted-title" id="accepted-title">
        {strings.acceptedTitle}
      </h3>
      <Fold className="accepted-list" shown={SHOWN_TOKENS}>
        {[...networksBySymbol(accepted)].map(([symbol, networks]) => (
          <li key={symbol} className="accepted-token">
            <TokenMark symbol={symbol} />
            <bdi className="row-title">{symbol}</bdi>
            <span className="row-text">{networks.join(' · ')}</span>
          </li>
        ))}
      </Fold>
    </section>
  );
}

function networksBySymbol(accepted: readonly AcceptedToken[]): ReadonlyMap<string, readonly string[]> {
  const networks = new Map<string, readonly string[]>();
  for (const { symbol, networkName } of accepted) {
    networks.set(symbol, [...new Set([...(networks.get(symbol) ?? []), networkName])]);
  }
  return networks;
}
