import { isoText } from '../../domain/wait-words.ts';
import type { ShownDelivery } from '../../store/webhooks/deliveries.ts';
import type { TimelineEntry } from './entry.ts';
import type { History } from './history.ts';

/** The timeline entries about deliveries of events to webhook endpoints, each at the time of its last attempt. */
export function webhookEntries({ deliveries }: History): TimelineEntry[] {
  return deliveries.map((delivery) => {
    const { endpointId, endpointUrl, eventId, status, attempts, createdAt, attemptedAt } = delivery;
    // Only the host: the rest of the URL may contain a secret of the receiver.
    const host = URL.parse(endpointUrl)?.host ?? '';
    return {
      at: attemptedAt ?? createdAt,
      what: `webhook.${status}`,
      text: sentenceOf(delivery, `${endpointId} at ${host}`),
      partnerText: sentenceOf(delivery, endpointId),
      evidence: {},
      internals: { endpointId, host, eventId, attempts },
    };
  });
}

function sentenceOf(delivery: ShownDelivery, endpoint: string): string {
  const { eventType, status, attempts, answerStatus, problem, dueAt } = delivery;
  const about = `The webhook ${eventType}`;
  if (status === 'succeeded') return `${about} was delivered to ${endpoint}, by attempt ${attempts}: ${answerStatus}.`;
  if (attempts === 0) return `${about} waits for its first attempt to reach ${endpoint}.`;
  const last = `Attempt ${attempts} failed. ${problem ?? ''}`.trim();
  if (status === 'failed') return `${about} was not delivered to ${endpoint}, and is not attempted again. ${last}`;
  const next = dueAt === null ? '' : ` The next one is due at ${isoText(dueAt.getTime())}.`;
  return `${about} is not delivered to ${endpoint} yet. ${last}${next}`;
}
