import { useQuery } from '@tanstack/react-query';
import { clamp } from '../../shared/text.ts';
import { call } from '../api.ts';
import type { GatewayState, NetworkState } from '../api-types.ts';
import { ListState } from '../ui/list-state.tsx';
import { NetworkCard } from '../ui/network-card.tsx';
import { PageHead, Time, useTitle } from '../ui/parts.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useWords } from '../words.ts';

const REFRESH_MS = 10_000;

/** The state of the gateway, read-only: operators make changes by commands. */
export function OperatorPage() {
  const words = useWords();
  useTitle(words.operator);
  const status = useQuery({
    queryKey: ['operator', 'status'],
    queryFn: ({ signal }) => call<GatewayState>('GET', '/v1/operator/status', { signal }),
    refetchInterval: REFRESH_MS,
  });
  const networks = useQuery({
    queryKey: ['operator', 'networks'],
    queryFn: ({ signal }) => call<{ networks: NetworkState[] }>('GET', '/v1/operator/networks', { signal }),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <PageHead title={words.operator}>
        <span className="soft">{words.operatorText}</span>
      </PageHead>
      <Tabs of="operator" />
      {status.data === undefined ? <ListState error={status.error} /> : <Attention status={status.data} />}
      <h2 className="section">{words.networks}</h2>
      <ListState error={networks.error} count={networks.data?.networks.length} empty={words.noNetworks} />
      <div className="cards">
        {networks.data?.networks.map((network) => (
          <NetworkCard key={network.network} network={network} />
        ))}
      </div>
      {status.data !== undefined && <Work status={status.data} />}
    </>
  );
}

interface StatusProps {
  readonly status: GatewayState;
}

/** Alerts and freezes, which need a person's attention. */
function Attention({ status: { alerts, freezes } }: StatusProps) {
  const words = useWords();
  return (
    <>
      <section aria-labelledby="alerts" className="card">
        <h2 id="alerts">{words.alerts}</h2>
        {alerts.length === 0 && <p className="soft">{words.noAlerts}</p>}
        <ul className="plain-list">
          {alerts.map(({ name, subject, message, since, runbook }) => (
            <li key={`${name} ${subject}`}>
              <span className="person-names">
                <span>
                  <code className="strong" dir="ltr">
                    {name}
                  </code>{' '}
                  <code className="soft" dir="ltr">
                    {clamp(subject, 80)}
                  </code>
                </span>
                <bdi className="small">{clamp(message, 400)}</bdi>
                <span className="soft small">
                  <Time at={since} /> · <code dir="ltr">{runbook}</code>
                </span>
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="freezes" className="card">
        <h2 id="freezes">{words.freezes}</h2>
        {freezes.length === 0 && <p className="soft">{words.noFreezes}</p>}
        <ul className="plain-list">
          {freezes.map(({ scope, subject, reason, since }) => (
            <li key={`${scope} ${subject}`}>
              <span className="person-names">
                <code className="strong" dir="ltr">
                  {scope} {clamp(subject, 60)}
                </code>
                <bdi className="small">{clamp(reason, 200)}</bdi>
              </span>
              <span className="soft small">
                <Time at={since} />
              </span>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

/** The nodes, and the leases of the jobs that only one node may do at a time. */
function Work({ status: { nodes, leases } }: StatusProps) {
  const words = useWords();
  return (
    <div className="columns even section">
      <section aria-labelledby="nodes" className="card">
        <h2 id="nodes">{words.nodes}</h2>
        <ul className="plain-list">
          {nodes.map(({ id, host, roles, startedAt, isUp }) => (
            <li key={id}>
              <span className="person-names">
                <bdi className="strong">{clamp(host, 60)}</bdi>
                <span className="soft small">
                  {roles.join(', ')} · {words.since} <Time at={startedAt} />
                </span>
              </span>
              <span className={`badge ${isUp ? 'badge-succeeded' : 'badge-failed'}`}>
                {isUp ? words.isUp : words.isGone}
              </span>
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="leases" className="card">
        <h2 id="leases">{words.leases}</h2>
        <ul className="plain-list">
          {leases.map(({ name, isHeld }) => (
            <li key={name}>
              <code dir="ltr" className="cut">
                {name}
              </code>
              <span className={`badge ${isHeld ? 'badge-succeeded' : 'badge-failed'}`}>
                {isHeld ? words.isHeld : words.isFree}
              </span>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}
