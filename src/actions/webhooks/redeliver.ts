import { ApiError } from '../../errors.ts';
import { appendEvents, newEventId } from '../../store/events/events.ts';
import { lastPosition } from '../../store/events/partner-feed.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type Delivery, findDelivery, renewDelivery } from '../../store/webhooks/deliveries.ts';
import type { Endpoint } from '../../store/webhooks/endpoints.ts';
import { findPositionBefore, startReplay } from '../../store/webhooks/fan-out.ts';
import { type CommandDeps, command } from '../command.ts';
import { type EndpointRequest, lockOwnEndpoint } from './change-endpoint.ts';
import { recordEndpoint } from './record-endpoint.ts';

/** Makes a delivery due again, with a new schedule of attempts. Undefined if there is no such delivery. */
export function redeliverOne(
  deps: CommandDeps,
  { eventId, ...request }: EndpointRequest & { readonly eventId: string },
): Promise<Delivery | undefined> {
  return command(deps, async (tx, now) => {
    const { id: endpointId } = await lockActiveEndpoint(tx, request);
    await renewDelivery(tx, { endpointId, eventId }, now);
    return findDelivery(tx, endpointId, eventId);
  });
}

/** Orders the redelivery of all events since a time. The deliveries are created in the background. */
export async function redeliverSince(
  deps: CommandDeps,
  { since, ...request }: EndpointRequest & { readonly since: Date },
): Promise<void> {
  await command(deps, async (tx, now) => {
    const endpoint = await lockActiveEndpoint(tx, request);
    const until = await lastPosition(tx);
    const after = await findPositionBefore(tx, endpoint, since);
    await startReplay(tx, { endpointId: endpoint.id, after, until, since });
    await appendAudit(tx, {
      at: now,
      actor: request.actor,
      action: 'webhook_endpoint.redelivery_ordered',
      subject: endpoint.id,
      detail: { since },
    });
  });
}

/** Appends a test event, which only this endpoint gets. Returns the id of the event. */
export function testEndpoint(deps: CommandDeps, request: EndpointRequest): Promise<string> {
  return command(deps, async (tx, at) => {
    const endpoint = await lockActiveEndpoint(tx, request);
    const id = newEventId(tx, at);
    const event = { id, type: 'webhook_endpoint.test', at, actor: request.actor } as const;
    await appendEvents(tx, [{ ...event, ...recordEndpoint(endpoint) }]);
    return id;
  });
}

async function lockActiveEndpoint(tx: Tx, request: EndpointRequest): Promise<Endpoint> {
  const endpoint = await lockOwnEndpoint(tx, request);
  if (endpoint.status !== 'active') {
    throw new ApiError('invalid_state', 'The webhook endpoint is disabled. Set its status to active first.', {
      status: 409,
    });
  }
  return endpoint;
}
