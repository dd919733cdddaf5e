import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  changeEndpoint,
  deleteEndpoint,
  endpointNotFound,
  rotateEndpointSecret,
} from '../../actions/webhooks/change-endpoint.ts';
import { createEndpoint } from '../../actions/webhooks/create-endpoint.ts';
import { isPinnable, type PinnableVersion } from '../../domain/version.ts';
import { receiverProblem } from '../../domain/webhook-url.ts';
import { ApiError, validationError } from '../../errors.ts';
import { allowsLocalReceivers } from '../../settings/webhooks.ts';
import type { Owner } from '../../store/parties/merchants.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import { type Endpoint, findEndpoint, listEndpoints } from '../../store/webhooks/endpoints.ts';
import type { App, HttpDeps } from '../deps.ts';
import { actorOf, type CallerRights, callerRights, onBehalfOf, ownerOf } from '../entry/caller.ts';
import { givenFields } from '../entry/given-fields.ts';
import { isPlausibleId } from '../entry/plausible-id.ts';
import { changeOf, deletedBody } from '../schemas.ts';
import { EndpointBody, EndpointField, EndpointWithSecret, viewEndpoint } from '../views/webhook-endpoint.ts';

export const WEBHOOKS = { scheme: 'partner', scope: 'webhooks' } as const;
/** An endpoint decides where events of payments are sent, so a stolen session must not be enough to change it. */
const WRITE = { ...WEBHOOKS, needsPasskey: true } as const;
const DAY_S = 86_400;

export async function webhookEndpointRoutes(app: App, deps: HttpDeps): Promise<void> {
  app.post(
    '/v1/webhook-endpoints',
    { schema: CREATE, config: { access: WRITE, errors: ['invalid_state'] } },
    async (request, reply) => {
      const { url, events, merchantIds = null, description = null, apiVersion } = request.body;
      refuseBadUrl(deps, request, url);
      const { endpoint, secret } = await createEndpoint(onBehalfOf(request, deps), {
        owner: ownerOf(request),
        actor: actorOf(request),
        url,
        events,
        merchantIds: merchantsWithin(callerRights(request), merchantIds),
        description,
        apiVersion: apiVersion ?? ownVersion(request),
      });
      return reply.code(201).send({ webhookEndpoint: { ...viewEndpoint(endpoint), secret } });
    },
  );

  app.get('/v1/webhook-endpoints', { schema: LIST, config: { access: WEBHOOKS } }, async (request) => {
    const endpoints = await listEndpoints(deps.db.sql, ownerOf(request));
    return { webhookEndpoints: endpoints.filter(ownershipOf(request)).map(viewEndpoint) };
  });

  app.get('/v1/webhook-endpoints/:id', { schema: GET, config: { access: WEBHOOKS } }, async (request) => ({
    webhookEndpoint: viewEndpoint(await findOwnEndpoint(deps.db.sql, request)),
  }));

  const patch = { schema: PATCH, config: { access: WRITE, errors: ['invalid_state'] as const } };
  app.patch('/v1/webhook-endpoints/:id', patch, async (request) => {
    const { url, events, merchantIds, description, apiVersion, status } = request.body;
    if (url !== undefined) refuseBadUrl(deps, request, url);
    const within = merchantIds === undefined ? undefined : merchantsWithin(callerRights(request), merchantIds);
    const changes = givenFields({ url, events, merchantIds: within, description, apiVersion, status });
    const endpoint = await changeEndpoint(onBehalfOf(request, deps), { ...endpointRequest(request), changes });
    return { webhookEndpoint: viewEndpoint(endpoint) };
  });

  app.delete('/v1/webhook-endpoints/:id', { schema: DELETE, config: { access: WRITE } }, async (request) => {
    await deleteEndpoint(onBehalfOf(request, deps), endpointRequest(request));
    return { id: request.params.id, deleted: true as const };
  });

  app.post(
    '/v1/webhook-endpoints/:id/rotate-secret',
    { schema: ROTATE, config: { access: WRITE, errors: ['invalid_state'] } },
    async (request) => {
      const { overlapSeconds = DAY_S } = request.body ?? {};
      const { endpoint, secret } = await rotateEndpointSecret(onBehalfOf(request, deps), {
        ...endpointRequest(request),
        overlapMs: overlapSeconds * 1000,
      });
      return { webhookEndpoint: { ...viewEndpoint(endpoint), secret } };
    },
  );
}

type IdRequest = FastifyRequest<{ Params: { id: string } }>;

export function endpointRequest(request: FastifyRequest) {
  const { id: endpointId } = (request as IdRequest).params;
  if (!isPlausibleId(endpointId)) throw endpointNotFound();
  return { endpointId, actor: actorOf(request), isOwn: ownershipOf(request) };
}

export async function findOwnEndpoint(db: Reader, request: FastifyRequest): Promise<Endpoint> {
  const { endpointId, isOwn } = endpointRequest(request);
  const endpoint = await findEndpoint(db, endpointId);
  if (endpoint === undefined || endpoint.status === 'deleted' || !isOwn(endpoint)) throw endpointNotFound();
  return endpoint;
}

/**
 * Returns a predicate for the endpoints that the caller may see. A key that is limited to certain merchants sees an endpoint only
 * if all merchants of the endpoint are among them.
 */
export function ownershipOf(request: FastifyRequest): (endpoint: Endpoint) => boolean {
  const { partnerId, mode, merchantIds } = callerRights(request);
  return (endpoint) =>
    endpoint.partnerId === partnerId &&
    endpoint.mode === mode &&
    (merchantIds === null || (endpoint.merchantIds?.every((id) => merchantIds.includes(id)) ?? false));
}

/** The ids of the owner's endpoints that the caller may see. Empty without the scope `webhooks`. */
export async function findShownEndpoints(db: Reader, request: FastifyRequest, owner: Owner): Promise<Set<string>> {
  const { scopes } = callerRights(request);
  if (scopes !== null && !scopes.includes(WEBHOOKS.scope)) return new Set();
  return new Set((await listEndpoints(db, owner)).filter(ownershipOf(request)).map(({ id }) => id));
}

/** The merchants of a new endpoint, limited to those that the key may act for. */
function merchantsWithin(
  { merchantIds: allowed }: Pick<CallerRights, 'merchantIds'>,
  wanted: readonly string[] | null,
): readonly string[] | null {
  if (allowed === null) return wanted;
  if (wanted?.some((id) => !allowed.includes(id))) {
    throw new ApiError('forbidden', 'You may not act for one of these merchants.');
  }
  return wanted ?? allowed;
}

function refuseBadUrl({ config }: HttpDeps, request: FastifyRequest, url: string): void {
  const allowsLocal = allowsLocalReceivers(config, callerRights(request).mode);
  const problem = receiverProblem(url, { allowsLocal });
  if (problem !== undefined) throw validationError([{ field: 'url', message: problem }]);
}

/**
 * The version to which a new endpoint is pinned: that of the request. A preview cannot be pinned, so the pin of the partner
 * replaces it.
 */
function ownVersion(request: FastifyRequest): PinnableVersion {
  const { apiVersion } = request;
  return apiVersion !== undefined && isPinnable(apiVersion) ? apiVersion : callerRights(request).pinnedVersion;
}

const TAGS = ['Webhooks'];
const { url, events, merchantIds, description, apiVersion, status } = EndpointField;
export const EndpointParams = Type.Object({ id: Type.String({ description: 'The webhook endpoint.' }) });
const One = Type.Object({ webhookEndpoint: EndpointBody }, { description: 'The webhook endpoint.' });
const OneWithSecret = Type.Object(
  { webhookEndpoint: EndpointWithSecret },
  { description: 'The webhook endpoint with its secret.' },
);

const CREATE = {
  tags: TAGS,
  operationId: 'createWebhookEndpoint',
  summary: 'Create a webhook endpoint',
  description:
    'Events from now on are delivered to the URL, signed as Standard Webhooks defines it. The secret is shown once. In each mode a merchant has at most 5 endpoints of its own, and the partner at most 20 for all or several merchants. A repeated request creates another endpoint.',
  body: Type.Object(
    {
      url,
      events,
      merchantIds: Type.Optional(merchantIds),
      description: Type.Optional(description),
      apiVersion: Type.Optional(apiVersion),
    },
    { title: 'NewWebhookEndpoint', additionalProperties: false },
  ),
  response: { 201: OneWithSecret },
};

const LIST = {
  tags: TAGS,
  operationId: 'listWebhookEndpoints',
  summary: 'List webhook endpoints',
  description: 'All endpoints that the key may see, the oldest first.',
  response: { 200: Type.Object({ webhookEndpoints: Type.Array(EndpointBody) }, { description: 'The endpoints.' }) },
};

const GET = {
  tags: TAGS,
  operationId: 'getWebhookEndpoint',
  summary: 'Get a webhook endpoint',
  description: 'The endpoint without its secret.',
  params: EndpointParams,
  response: { 200: One },
};

const PATCH = {
  tags: TAGS,
  operationId: 'updateWebhookEndpoint',
  summary: 'Change a webhook endpoint',
  description:
    'Give at least one field. Deliveries that are pending go to the new URL. Pending deliveries of events that the endpoint is no longer subscribed to are not sent, and are removed.',
  params: EndpointParams,
  body: changeOf('WebhookEndpointChange', { url, events, merchantIds, description, apiVersion, status }),
  response: { 200: One },
};

const DELETE = {
  tags: TAGS,
  operationId: 'deleteWebhookEndpoint',
  summary: 'Delete a webhook endpoint',
  description: 'Stops its deliveries, also those that are pending. Repeating it changes nothing.',
  params: EndpointParams,
  response: {
    200: deletedBody('It is deleted.'),
  },
};

const ROTATE = {
  tags: TAGS,
  operationId: 'rotateWebhookSecret',
  summary: 'Rotate the secret of a webhook endpoint',
  description:
    'Makes a new secret. Older secrets sign as well until the overlap is over, so a receiver that knows either of them verifies every delivery.',
  params: EndpointParams,
  body: Type.Unsafe<{ overlapSeconds?: number } | null>({
    ...Type.Object(
      {
        overlapSeconds: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 7 * DAY_S,
            default: DAY_S,
            description: 'Seconds for which older secrets still sign. 0 ends them now.',
          }),
        ),
      },
      { title: 'SecretRotation', additionalProperties: false },
    ),
    type: ['object', 'null'],
  }),
  response: { 200: OneWithSecret },
};
