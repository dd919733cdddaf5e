import { isGivenUp } from '../../domain/webhook.ts';
import type { Log } from '../../runtime/world.ts';
import { appendEvents } from '../../store/events/events.ts';
import { upsertAlert } from '../../store/plumbing/alerts.ts';
import { lockEndpoint, updateEndpoint } from '../../store/webhooks/endpoints.ts';
import { type CommandDeps, command } from '../command.ts';
import { DISABLED_ALERT } from './change-endpoint.ts';
import { recordEndpoint } from './record-endpoint.ts';

/** `gone`: the receiver answered 410. `failing`: all deliveries failed for three days. */
export type DisableReason = 'gone' | 'failing';

/**
 * Disables an endpoint and appends an event about it. Only a failing endpoint raises an alert, because a receiver that answers 410
 * wants no more deliveries.
 */
export async function disableEndpoint(
  deps: CommandDeps & { readonly log: Log },
  { endpointId, reason }: { readonly endpointId: string; readonly reason: DisableReason },
): Promise<void> {
  const message = 'All deliveries to the webhook endpoint failed for three days, so it was disabled.';
  const isDisabled = await command(deps, async (tx, now) => {
    const endpoint = await lockEndpoint(tx, endpointId);
    if (endpoint?.status !== 'active') return false;
    const { failingSince } = endpoint;
    const isFailing = failingSince !== null && isGivenUp(failingSince.getTime(), now.getTime());
    if (reason === 'failing' && !isFailing) return false;
    const disabled = { ...endpoint, status: 'disabled', updatedAt: now } as const;
    await updateEndpoint(tx, disabled);
    const event = { type: 'webhook_endpoint.disabled', at: now, actor: 'webhooks' } as const;
    await appendEvents(tx, [{ ...event, ...recordEndpoint(disabled) }]);
    if (reason === 'failing') {
      await upsertAlert(tx, { name: DISABLED_ALERT, subject: endpointId, message, lastSeen: now });
    }
    return true;
  });
  if (isDisabled && reason === 'failing') deps.log.error({ alert: DISABLED_ALERT, subject: endpointId }, message);
}
