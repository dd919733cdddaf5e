import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../api.ts';
import type { Payment, PaymentDelivery } from '../api-types.ts';
import { useMay } from '../queries.ts';
import { useWords } from '../words.ts';
import { DeliveryBadge } from './delivery-badge.tsx';
import { Time } from './parts.tsx';

/** Webhook deliveries of the payment's events. Renders nothing if there are none. */
export function PaymentDeliveries({ payment }: { readonly payment: Payment }) {
  const words = useWords();
  const { data } = useQuery({
    queryKey: ['payments', 'deliveries', payment.id],
    enabled: useMay('webhooks'),
    queryFn: ({ signal }) =>
      call<{ deliveries: readonly PaymentDelivery[] }>('GET', `/v1/payments/${payment.id}/webhook-deliveries`, {
        merchantId: payment.merchantId,
        signal,
      }),
  });
  if (data === undefined || data.deliveries.length === 0) return null;
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">{words.deliveries}</h2>
      <ul className="plain-list">
        {data.deliveries.map(({ endpointId, endpointUrl, eventId, eventType, status, createdAt, lastAttempt }) => (
          <li key={`${endpointId} ${eventId}`}>
            <span className="cut">
              <Link to="/webhooks/$endpointId" params={{ endpointId }}>
                {eventType}
              </Link>
              <span className="soft small agent" dir="ltr">
                {endpointUrl}
              </span>
              {status !== 'succeeded' && lastAttempt?.problem != null && (
                <span className="small agent">{lastAttempt.problem}</span>
              )}
            </span>
            <DeliveryBadge status={status} />
            <span className="soft small">
              <Time at={lastAttempt?.at ?? createdAt} isExact />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
