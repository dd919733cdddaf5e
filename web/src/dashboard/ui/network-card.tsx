import { clamp, fill } from '../../shared/text.ts';
import type { NetworkState } from '../api-types.ts';
import { useWords } from '../words.ts';
import { Code, Notice } from './parts.tsx';

/** The longest estimate, in days, of how long a relayer's balance lasts. A longer one is not shown. */
const MOST_DAYS = 365;

export function NetworkCard({ network }: { readonly network: NetworkState }) {
  const words = useWords();
  const { coin, head, readTo, finalTo, lag, endpoints, relayers, gasPerItem, books } = network;
  const problems = [...network.problems, ...network.disagreements, ...books.problems];
  const number = (value: number | null) => (value === null ? '—' : value.toLocaleString('en'));
  return (
    <section className="card" aria-label={network.name}>
      <h3>
        {network.name}{' '}
        <code className="soft" dir="ltr">
          {network.network}
        </code>
      </h3>
      {problems.map((problem) => (
        <Notice key={problem} kind="warm">
          {clamp(problem, 300)}
        </Notice>
      ))}
      <dl className="figures">
        <Figure name={words.head} value={number(head)} />
        <Figure name={words.lag} value={lag === null ? '—' : fill(words.blocks, { count: String(lag) })} />
        <Figure name={words.readTo} value={number(readTo)} />
        <Figure name={words.finalTo} value={number(finalTo)} />
        <Figure name={words.gasPerItem} value={gasPerItem === null ? '—' : `${short(gasPerItem)} ${coin}`} />
        <Figure name={words.booksAgree} value={number(books.auditedBlock)} />
      </dl>
      <ul className="plain-list">
        {endpoints.map(({ name, isUp, trouble }) => (
          <li key={name}>
            <span className="person-names">
              <span>{name}</span>
              {trouble !== null && <bdi className="soft small">{clamp(trouble, 200)}</bdi>}
            </span>
            <span className={`badge ${isUp ? 'badge-succeeded' : 'badge-failed'}`}>
              {isUp ? words.isUp : words.isDown}
            </span>
          </li>
        ))}
        {relayers.map(({ address, balance, spentPerDay, daysLeft, inFlight, itemsPerDay, isLed }) => (
          <li key={address}>
            <span className="person-names">
              <Code text={address} label={words.relayer} />
              <span className="soft small">
                {fill(words.relayerText, {
                  balance: balance === null ? '—' : `${short(balance)} ${coin}`,
                  spent: `${short(spentPerDay)} ${coin}`,
                  items: String(itemsPerDay),
                  count: String(inFlight),
                })}
                {daysLeft !== null &&
                  daysLeft <= MOST_DAYS &&
                  ` · ${fill(words.daysLeft, { count: String(daysLeft) })}`}
              </span>
            </span>
            <span className={`badge ${isLed ? 'badge-succeeded' : 'badge-failed'}`}>
              {isLed ? words.isHeld : words.isFree}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Figure({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <bdi>{value}</bdi>
      </dd>
    </div>
  );
}

/** An amount of gas, cut to four digits after the leading zeros, which are enough to compare amounts. */
function short(decimal: string): string {
  const [, whole = decimal, zeros = '', digits = ''] = /^(\d+)\.(0*)(\d*)$/.exec(decimal) ?? [];
  return digits === '' ? whole : `${whole}.${zeros}${digits.slice(0, 4)}`;
}
