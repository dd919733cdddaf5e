import type { Endpoint } from '../../store/webhooks/endpoints.ts';

/** The part of an event that is about the endpoint: all that partners see of it. Never its secrets. */
export function recordEndpoint(endpoint: Endpoint) {
  const { id, partnerId, mode, url, events, merchantIds, description, status, apiVersion, createdAt } = endpoint;
  return {
    objectId: id,
    merchantId: null,
    owner: { partnerId, mode },
    data: { url, events, merchantIds, description, status, apiVersion, createdAt },
  };
}
