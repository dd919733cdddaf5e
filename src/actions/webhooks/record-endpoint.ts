import type { Endpoint } from '../../store/webhooks/endpoints.ts';

/** The endpoint as an event shows it: everything that partners may see, never the secrets. */
export function recordEndpoint(endpoint: Endpoint) {
  const { id, partnerId, mode, url, events, merchantIds, description, status, apiVersion, createdAt } = endpoint;
  return {
    objectId: id,
    // An endpoint for one merchant belongs to this merchant.
    merchantId: merchantIds?.length === 1 ? (merchantIds[0] ?? null) : null,
    owner: { partnerId, mode },
    data: { url, events, merchantIds, description, status, apiVersion, createdAt },
  };
}
