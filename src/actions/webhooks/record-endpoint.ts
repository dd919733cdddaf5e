import type { Endpoint } from '../../store/webhooks/endpoints.ts';

/** The part of an event that is about the endpoint: all that partners see of it. Never its secrets. */
export function recordEndpoint(endpoint: Endpoint) {
  const { id, partnerId, mode, url, events, merchantIds, description, status, apiVersion, createdAt } = endpoint;
  return {
    objectId: id,
    // An endpoint for one merchant is an object of this merchant.
    merchantId: merchantIds?.length === 1 ? (merchantIds[0] ?? null) : null,
    owner: { partnerId, mode },
    data: { url, events, merchantIds, description, status, apiVersion, createdAt },
  };
}
