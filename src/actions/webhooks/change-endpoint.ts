import { quotaHolder } from '../../domain/quota.ts';
import type { PinnableVersion } from '../../domain/version.ts';
import type { EndpointStatus } from '../../domain/webhook.ts';
import { ApiError } from '../../errors.ts';
import { deleteAlert } from '../../store/plumbing/alerts.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { noteNarrowed } from '../../store/webhooks/deliveries.ts';
import { type Endpoint, lockEndpoint, updateEndpoint } from '../../store/webhooks/endpoints.ts';
import { type CommandDeps, command } from '../command.ts';
import { type EndpointDeps, refuseForeignMerchants, refuseTooMany } from './create-endpoint.ts';
import { inForce, newSecret } from './endpoint-secrets.ts';

export interface EndpointRequest {
  readonly endpointId: string;
  readonly actor: string;
  /** True if the caller may see the endpoint. */
  readonly isOwn: (endpoint: Endpoint) => boolean;
}

export interface EndpointChanges {
  readonly url?: string;
  readonly events?: readonly string[];
  readonly merchantIds?: readonly string[] | null;
  readonly description?: string | null;
  readonly apiVersion?: PinnableVersion;
  readonly status?: EndpointStatus;
}

export const DISABLED_ALERT = 'webhook_endpoint_disabled';
/** The maximum number of active secrets. Each adds a signature to every request. */
const MAX_SECRETS = 5;

export function changeEndpoint(
  deps: CommandDeps,
  { changes, ...request }: EndpointRequest & { readonly changes: EndpointChanges },
): Promise<Endpoint> {
  return command(deps, async (tx, now) => {
    const endpoint = await lockOwnEndpoint(tx, request);
    if (changes.merchantIds !== undefined) {
      const isMoved = quotaHolder(changes.merchantIds) !== quotaHolder(endpoint.merchantIds);
      if (isMoved) await refuseTooMany(tx, endpoint, changes.merchantIds);
      await refuseForeignMerchants(tx, endpoint, changes.merchantIds);
    }
    const isSwitched = changes.status !== undefined && changes.status !== endpoint.status;
    const isEnabled = isSwitched && changes.status === 'active';
    // A person who enables or disables an endpoint has seen its failures, so the count of failures starts again.
    const changed: Endpoint = { ...endpoint, ...changes, updatedAt: now, ...(isSwitched && { failingSince: null }) };
    await updateEndpoint(tx, changed);
    if (changes.events !== undefined || changes.merchantIds !== undefined) await noteNarrowed(tx, endpoint.id, now);
    if (isEnabled) await deleteAlert(tx, { name: DISABLED_ALERT, subject: endpoint.id });
    const before = Object.fromEntries(
      Object.keys(changes).map((name) => [name, endpoint[name as keyof EndpointChanges]]),
    );
    const detail = { before, after: changes };
    await appendAudit(tx, {
      at: now,
      actor: request.actor,
      action: 'webhook_endpoint.changed',
      subject: endpoint.id,
      detail,
    });
    return changed;
  });
}

/** Deletes an endpoint: stops its deliveries for good, and deletes its secrets. A repeated deletion changes nothing. */
export function deleteEndpoint(deps: CommandDeps, request: EndpointRequest): Promise<void> {
  return command(deps, async (tx, now) => {
    const endpoint = await lockEndpoint(tx, request.endpointId);
    if (endpoint === undefined || !request.isOwn(endpoint)) throw endpointNotFound();
    if (endpoint.status === 'deleted') return;
    await updateEndpoint(tx, { ...endpoint, status: 'deleted', secrets: [], updatedAt: now });
    await deleteAlert(tx, { name: DISABLED_ALERT, subject: endpoint.id });
    await appendAudit(tx, {
      at: now,
      actor: request.actor,
      action: 'webhook_endpoint.deleted',
      subject: endpoint.id,
      detail: { url: endpoint.url, status: endpoint.status },
    });
  });
}

/** Creates a new secret for the endpoint, and returns it. Older secrets continue to sign until the overlap is over. */
export function rotateEndpointSecret(
  deps: EndpointDeps,
  { overlapMs, ...request }: EndpointRequest & { readonly overlapMs: number },
): Promise<{ endpoint: Endpoint; secret: string }> {
  return command(deps, async (tx, now) => {
    const endpoint = await lockOwnEndpoint(tx, request);
    const latest = new Date(now.getTime() + overlapMs);
    const older = inForce(endpoint, now)
      .map(({ wrapped, until }) => ({
        wrapped,
        until: until !== null && new Date(until) < latest ? new Date(until) : latest,
      }))
      .filter(({ until }) => until > now)
      .map(({ wrapped, until }) => ({ wrapped, until: until.toISOString() }));
    if (older.length >= MAX_SECRETS) {
      const message = `${MAX_SECRETS} secrets are in force. Wait until the overlap of one is over, or end it with overlapSeconds 0.`;
      throw new ApiError('invalid_state', message, { status: 409 });
    }
    const secret = newSecret(deps, endpoint.id);
    const rotated: Endpoint = { ...endpoint, secrets: [secret.stored, ...older], updatedAt: now };
    await updateEndpoint(tx, rotated);
    await appendAudit(tx, {
      at: now,
      actor: request.actor,
      action: 'webhook_endpoint.secret_rotated',
      subject: endpoint.id,
      detail: { olderSecrets: older.length, olderUntil: older[0]?.until ?? null },
    });
    return { endpoint: rotated, secret: secret.text };
  });
}

/** Locks an endpoint of the caller that is not deleted. */
export async function lockOwnEndpoint(tx: Tx, { endpointId, isOwn }: EndpointRequest): Promise<Endpoint> {
  const endpoint = await lockEndpoint(tx, endpointId);
  if (endpoint === undefined || endpoint.status === 'deleted' || !isOwn(endpoint)) throw endpointNotFound();
  return endpoint;
}

export function endpointNotFound(): ApiError {
  return new ApiError('invalid_params', 'The webhook endpoint was not found.', { status: 404 });
}
