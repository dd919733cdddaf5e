import type { WebhookDelivery } from '../api-types.ts';
import type { Strings } from '../strings/en.ts';
import { useWords } from '../words.ts';

const DELIVERY_WORDS = {
  pending: ['deliveryPending', 'badge-processing'],
  succeeded: ['deliverySucceeded', 'badge-succeeded'],
  failed: ['deliveryFailed', 'badge-failed'],
} as const satisfies Record<WebhookDelivery['status'], readonly [keyof Strings, string]>;

export function DeliveryBadge({ status }: Pick<WebhookDelivery, 'status'>) {
  const words = useWords();
  const [word, style] = DELIVERY_WORDS[status];
  return <span className={`badge ${style}`}>{words[word]}</span>;
}
