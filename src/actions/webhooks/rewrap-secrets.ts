import { type Secrets, WrongSecretError } from '../../runtime/secrets.ts';
import { appendEvents } from '../../store/events/events.ts';
import type { Tx } from '../../store/plumbing/database.ts';
import { type Endpoint, lockEndpoints, updateEndpoint } from '../../store/webhooks/endpoints.ts';
import { eachPage, type Pages } from '../renew-macs.ts';
import { rewrap } from './endpoint-secrets.ts';
import { recordEndpoint } from './record-endpoint.ts';

/**
 * Wraps the secrets of all endpoints with the newest master secret, and returns the number of endpoints. If the older master secret
 * is lost, endpoints whose secrets cannot be opened are disabled until their partners rotate them.
 */
export function rewrapEndpointSecrets(
  pages: Pages,
  deps: { readonly secrets: Secrets },
  { isLost, now }: { readonly isLost: boolean; readonly now: Date },
): Promise<number> {
  return eachPage(pages, lockEndpoints, async (tx, page) => {
    let rewrapped = 0;
    for (const endpoint of page) {
      const secrets = openable(deps, endpoint, { isLost, now });
      if (secrets === undefined) await disable(tx, endpoint, now);
      else {
        await updateEndpoint(tx, { ...endpoint, secrets });
        rewrapped += 1;
      }
    }
    return rewrapped;
  });
}

function openable(
  deps: { readonly secrets: Secrets },
  endpoint: Endpoint,
  { isLost, now }: { readonly isLost: boolean; readonly now: Date },
): Endpoint['secrets'] | undefined {
  try {
    return rewrap(deps, endpoint, now);
  } catch (error) {
    if (isLost && error instanceof WrongSecretError) return undefined;
    throw error;
  }
}

/** Disables an endpoint and deletes its secrets, because nobody can open them. */
async function disable(tx: Tx, endpoint: Endpoint, now: Date): Promise<void> {
  const disabled = { ...endpoint, status: 'disabled', secrets: [], updatedAt: now } as const;
  await updateEndpoint(tx, disabled);
  if (endpoint.status !== 'active') return;
  const event = { type: 'webhook_endpoint.disabled', at: now, actor: 'operator' } as const;
  await appendEvents(tx, [{ ...event, ...recordEndpoint(disabled) }]);
}
