import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { clamp, fill } from '../../shared/text.ts';
import { call, queryText } from '../api.ts';
import type { DeliveryPage, WebhookEndpoint } from '../api-types.ts';
import { DeliveryBadge } from '../ui/delivery-badge.tsx';
import { ListState, More } from '../ui/list-state.tsx';
import { usePages } from '../ui/pages-list.ts';
import { EndpointBadge, Notice, Time, useTitle } from '../ui/parts.tsx';
import { useChange } from '../ui/use-change.ts';
import { useWords } from '../words.ts';

/** The interval at which the page polls the deliveries. A delivery causes no event in the feed, so the page cannot follow the feed. */
const REFRESH_MS = 5_000;

export function WebhookPage() {
  const words = useWords();
  const client = useQueryClient();
  const { endpointId } = useParams({ from: '/shell/webhooks/$endpointId' });
  const path = `/v1/webhook-endpoints/${encodeURIComponent(endpointId)}`;
  const { isRunning, problem, run } = useChange();
  const { data, error } = useQuery({
    queryKey: ['webhooks', endpointId],
    queryFn: ({ signal }) => call<{ webhookEndpoint: WebhookEndpoint }>('GET', path, { signal }),
  });
  const list = usePages<DeliveryPage>(
    ['webhooks', endpointId, 'deliveries'],
    (cursor) => `${path}/deliveries${queryText({ limit: 50, cursor })}`,
    { refreshMs: REFRESH_MS },
  );
  const endpoint = data?.webhookEndpoint;
  useTitle(words.webhooks);
  if (endpoint === undefined) return <ListState error={error} />;
  const send = (method: string, to: string, body?: object) =>
    run(async () => {
      await call(method, to, body && { body });
      await client.invalidateQueries({ queryKey: ['webhooks'] });
    });
  const isActive = endpoint.status === 'active';
  const rows = list.data?.pages.flatMap((page) => page.deliveries);
  return (
    <>
      <Link to="/webhooks" className="back-link">
        {words.webhooks}
      </Link>
      <header className="page-head">
        <h1 className="payment-title endpoint-title">
          <bdi>{clamp(endpoint.url, 100)}</bdi> <EndpointBadge status={endpoint.status} />
        </h1>
        <div className="page-actions">
          {isActive && (
            <button
              type="button"
              className="quiet"
              disabled={isRunning}
              onClick={() => void send('POST', `${path}/test`)}
            >
              {words.sendTest}
            </button>
          )}
          <button
            type="button"
            className="quiet"
            disabled={isRunning}
            onClick={() => void send('PATCH', path, { status: isActive ? 'disabled' : 'active' })}
          >
            {isActive ? words.disable : words.enable}
          </button>
        </div>
      </header>
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      <section aria-labelledby="deliveries" className="card">
        <h2 id="deliveries">{words.deliveries}</h2>
        {rows?.length === 0 && !list.hasNextPage && <p className="soft">{words.noDeliveries}</p>}
        <ul className="plain-list">
          {rows?.map((delivery) => (
            <li key={delivery.id}>
              <span className="person-names">
                <code dir="ltr">{delivery.eventType}</code>
                <span className="soft small">
                  <Time at={delivery.createdAt} isExact /> ·{' '}
                  {fill(words.attempts, { count: String(delivery.attempts) })}
                  {delivery.lastAttempt?.problem != null && ` · ${clamp(delivery.lastAttempt.problem, 120)}`}
                </span>
              </span>
              <DeliveryBadge status={delivery.status} />
              {isActive && (
                <button
                  type="button"
                  className="quiet small"
                  disabled={isRunning}
                  onClick={() => void send('POST', `${path}/deliveries/${delivery.id}/redeliver`)}
                >
                  {words.redeliver}
                </button>
              )}
            </li>
          ))}
        </ul>
        <More list={list} />
      </section>
    </>
  );
}
