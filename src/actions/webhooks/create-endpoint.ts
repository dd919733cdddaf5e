import { newId } from '../../domain/ids.ts';
import { exceededQuota, quotaHolder } from '../../domain/quota.ts';
import type { PinnableVersion } from '../../domain/version.ts';
import { ENDPOINT_QUOTA } from '../../domain/webhook.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { Secrets } from '../../runtime/secrets.ts';
import { listOwnMerchants, type Owner } from '../../store/parties/merchants.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { lockName } from '../../store/plumbing/locks.ts';
import { type Endpoint, insertEndpoint, listEndpoints } from '../../store/webhooks/endpoints.ts';
import { type CommandDeps, command } from '../command.ts';
import { newSecret } from './endpoint-secrets.ts';

export interface EndpointDeps extends CommandDeps {
  readonly secrets: Secrets;
}

export interface NewEndpoint {
  readonly owner: Owner;
  readonly actor: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly merchantIds: readonly string[] | null;
  readonly description: string | null;
  readonly apiVersion: PinnableVersion;
}

/** Creates an endpoint. Only this answer contains its secret. */
export function createEndpoint(
  deps: EndpointDeps,
  { owner, actor, ...terms }: NewEndpoint,
): Promise<{ endpoint: Endpoint; secret: string }> {
  return command(deps, async (tx, now) => {
    await refuseTooMany(tx, owner, terms.merchantIds);
    await refuseForeignMerchants(tx, owner, terms.merchantIds);
    const id = newId('whe_', now.getTime(), deps.world.random.bytes(10));
    const secret = newSecret(deps, id);
    const endpoint: Endpoint = {
      ...owner,
      ...terms,
      id,
      status: 'active',
      secrets: [secret.stored],
      createdAt: now,
      updatedAt: now,
      failingSince: null,
    };
    await insertEndpoint(tx, endpoint);
    await appendAudit(tx, { at: now, actor, action: 'webhook_endpoint.created', subject: id, detail: terms });
    return { endpoint, secret: secret.text };
  });
}

/**
 * Throws if the partner or the merchant already has the maximum number of endpoints. The lock is needed because two concurrent
 * requests could exceed the limit together.
 */
export async function refuseTooMany(tx: Tx, owner: Owner, merchantIds: readonly string[] | null): Promise<void> {
  await lockName(tx, `webhook endpoints ${owner.partnerId}/${owner.mode}`);
  const present = (await listEndpoints(tx, owner)).map((endpoint) => endpoint.merchantIds);
  const limit = exceededQuota(ENDPOINT_QUOTA, merchantIds, present);
  if (limit === undefined) return;
  const whose = quotaHolder(merchantIds) === null ? '' : ' for the merchant';
  const message = `There are ${limit} webhook endpoints${whose}, which is the most. Delete one first.`;
  throw new ApiError('invalid_state', message, { status: 409 });
}

/** Throws unless all merchants belong to the partner and have the same mode as the endpoint. */
export async function refuseForeignMerchants(tx: Tx, owner: Owner, ids: readonly string[] | null): Promise<void> {
  if (ids === null) return;
  const own = new Set(await listOwnMerchants(tx, owner, ids));
  const issues = ids.flatMap((id, index) =>
    own.has(id) ? [] : [{ field: `merchantIds[${index}]`, message: 'is not a merchant of yours' }],
  );
  if (issues.length > 0) throw validationError(issues);
}
