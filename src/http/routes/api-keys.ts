import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { type IssuedKey, issueKey, keyNotFound, revokeKey, rotateKey } from '../../actions/parties/issue-key.ts';
import { isAddressOrNetwork } from '../../domain/address-list.ts';
import { openCursor, sealCursor } from '../../domain/cursor.ts';
import type { Quota } from '../../domain/quota.ts';
import { SCOPES } from '../../domain/scope.ts';
import { parseTimestamp } from '../../domain/timestamp.ts';
import { ApiError, type Issue, validationError } from '../../errors.ts';
import { defaultKeyEnd } from '../../settings/key-lifetime.ts';
import { type ApiKey, listApiKeys, listKeysPage } from '../../store/parties/api-keys.ts';
import type { Reader } from '../../store/plumbing/database.ts';
import type { App, HttpDeps } from '../deps.ts';
import { actorOf, callerRights, onBehalfOf, ownerOf } from '../entry/caller.ts';
import { isPlausibleId } from '../entry/plausible-id.ts';
import { Cursor, deletedBody, limitOf, nullable, pageOf, Timestamp } from '../schemas.ts';
import { ApiKeyBody, ApiKeyField, ApiKeyWithSecret, viewApiKey } from '../views/api-key.ts';

/** Only people manage keys: a stolen key must not create its own successor. */
const READ = { scheme: 'person', scope: 'keys:read' } as const;
const WRITE = { scheme: 'person', scope: 'keys:write', needsPasskey: true } as const;
const DAY_S = 86_400;
const LIMIT = 100;
const MAX_LIMIT = 500;
/** The most keys in force, per mode. */
const KEY_QUOTA: Quota = { ofPartner: 100, ofMerchant: 20, ofMerchants: 5_000 };

/** Routes with which people manage keys. A person cannot give a key a right that the person does not have. */
export async function apiKeyRoutes(app: App, deps: HttpDeps): Promise<void> {
  const now = () => new Date(deps.world.clock.nowMs());
  const viewIssued = ({ key, secret }: IssuedKey) => ({ ...viewApiKey(key, now()), secret });

  app.get('/v1/api-keys', { schema: LIST, config: { access: READ } }, async (request, reply) => {
    const { cursor, limit = LIMIT, inForce = false } = request.query;
    const { id, partnerId, mode, merchantIds } = callerRights(request);
    const question = JSON.stringify(['api keys', partnerId, mode, merchantIds, inForce]);
    const query = { partnerId, mode, merchantIds, inForceAt: inForce ? now() : undefined };
    const before = keyBefore(deps, question, cursor);
    const found = await deps.lists.read(id, reply, (db) => listKeysPage(db, query, { before, limit: limit + 1 }));
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    const nextCursor = last === undefined ? null : sealCursor(deps.cursorKeys, question, [last.id]);
    return { apiKeys: page.map((key) => viewApiKey(key, now())), nextCursor };
  });

  app.post(
    '/v1/api-keys',
    { schema: ISSUE, config: { access: WRITE, errors: ['merchant_not_found', 'partner_not_found', 'invalid_state'] } },
    async (request, reply) => {
      const { label, scopes = null, merchantIds = null, addresses = null } = request.body;
      const wish = { scopes, merchantIds: merchantIds ?? callerRights(request).merchantIds, addresses };
      checkAddresses(addresses);
      checkWithinOwn(request, wish);
      const issued = await issueKey(onBehalfOf(request, deps), {
        ...ownerOf(request),
        ...wish,
        actor: actorOf(request),
        label,
        expiresAt: endOf(deps, request.body.expiresAt),
        quota: KEY_QUOTA,
      });
      return reply.code(201).send({ apiKey: viewIssued(issued) });
    },
  );

  app.post(
    '/v1/api-keys/:id/rotate',
    { schema: ROTATE, config: { access: WRITE, errors: ['api_key_not_found', 'invalid_state'] } },
    async (request, reply) => {
      const { overlapSeconds = DAY_S } = request.body ?? {};
      const rotated = await rotateKey(onBehalfOf(request, deps), {
        ...keyRequest(request),
        overlapMs: overlapSeconds * 1000,
        expiresAt: defaultKeyEnd(deps),
        check: (key) => {
          checkSeen(request, key);
          checkWithinOwn(request, key);
        },
      });
      deps.keys.forget(rotated.replaced.hash);
      return reply.code(201).send({ apiKey: viewIssued(rotated), replaced: viewApiKey(rotated.replaced, now()) });
    },
  );

  app.delete(
    '/v1/api-keys/:id',
    { schema: REVOKE, config: { access: WRITE, errors: ['api_key_not_found'] } },
    async (request) => {
      const check = (key: ApiKey) => checkSeen(request, key);
      const { hash } = await revokeKey(onBehalfOf(request, deps), { ...keyRequest(request), check });
      deps.keys.forget(hash);
      return { id: request.params.id, deleted: true as const };
    },
  );
}

function keyBefore({ cursorKeys }: HttpDeps, question: string, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined;
  const [id] = openCursor(cursorKeys, question, cursor) ?? [];
  if (id !== undefined) return id;
  throw new ApiError('invalid_params', 'The cursor is not one of ours for this list: use nextCursor.');
}

/** The keys of the partner in the mode. People of a merchant see only keys for that merchant alone. */
export async function listSeenKeys(db: Reader, request: FastifyRequest): Promise<ApiKey[]> {
  const keys = await listApiKeys(db, ownerOf(request));
  return keys.filter((key) => isSeenBy(request, key));
}

function isSeenBy(request: FastifyRequest, key: ApiKey): boolean {
  const { partnerId, mode, merchantIds } = callerRights(request);
  return key.partnerId === partnerId && key.mode === mode && isWithin(key.merchantIds, merchantIds);
}

function checkSeen(request: FastifyRequest, key: ApiKey): void {
  if (!isSeenBy(request, key)) throw keyNotFound(key.id);
}

function keyRequest(request: FastifyRequest) {
  const { id: keyId } = request.params as { id: string };
  if (!isPlausibleId(keyId)) throw keyNotFound(keyId);
  return { keyId, actor: actorOf(request) };
}

/** True if all wanted values are allowed. Null stands for all values. */
function isWithin<T>(wanted: readonly T[] | null, allowed: readonly T[] | null): boolean {
  return allowed === null || (wanted?.every((each) => allowed.includes(each)) ?? false);
}

/** Refuses a key with more rights than the person: it would be a way around the person's role. */
function checkWithinOwn(request: FastifyRequest, wish: Pick<ApiKey, 'scopes' | 'merchantIds'>): void {
  const { scopes: own, merchantIds } = callerRights(request);
  const lacking = (wish.scopes ?? SCOPES).filter((scope) => !isWithin([scope], own));
  if (lacking.length > 0) {
    throw new ApiError('forbidden', `Your role cannot give a key these scopes: ${lacking.join(', ')}.`);
  }
  if (!isWithin(wish.merchantIds, merchantIds)) {
    throw new ApiError('forbidden', 'You may not act for one of these merchants.');
  }
}

function checkAddresses(addresses: readonly string[] | null): void {
  const issues = (addresses ?? []).flatMap((address, index): Issue[] =>
    isAddressOrNetwork(address)
      ? []
      : [{ field: `addresses[${index}]`, message: 'must be an IP address or a network, such as 203.0.113.0/24' }],
  );
  if (issues.length > 0) throw validationError(issues);
}

/** The requested expiry, which must not be later than the operator allows. */
function endOf(deps: HttpDeps, wanted: string | null | undefined): Date | null {
  const latest = defaultKeyEnd(deps);
  if (wanted === undefined) return latest;
  const refuse = (message: string) => validationError([{ field: 'expiresAt', message }]);
  const parsed = wanted === null ? undefined : parseTimestamp(wanted);
  if (parsed?.ok === false) throw refuse(parsed.problem);
  if (parsed !== undefined && parsed.value <= deps.world.clock.nowMs()) throw refuse('must be in the future');
  const end = parsed === undefined ? null : new Date(parsed.value);
  if (latest !== null && (end === null || end > latest)) {
    throw refuse(`must not be later than ${latest.toISOString()}, the limit of the operator`);
  }
  return end;
}

const TAGS = ['API keys'];
const Params = Type.Object({ id: Type.String({ description: 'The key, as the list shows it.' }) });
const { label, scopes, merchantIds, addresses } = ApiKeyField;

const LIST = {
  tags: TAGS,
  operationId: 'listApiKeys',
  summary: 'List API keys',
  description: 'The keys of the mode, the newest first. Secrets are not stored and not shown.',
  querystring: Type.Object({
    cursor: Type.Optional(Cursor),
    limit: limitOf(MAX_LIMIT, LIMIT),
    inForce: Type.Optional(
      Type.Boolean({ description: 'True for keys in force alone. By default ended ones are listed, too.' }),
    ),
  }),
  response: { 200: pageOf({ apiKeys: Type.Array(ApiKeyBody) }, 'ApiKeyPage') },
};

const ISSUE = {
  tags: TAGS,
  operationId: 'createApiKey',
  summary: 'Issue an API key',
  description: `For the mode of the session. The secret is shown once. A key gets no scope that the role of the person lacks. In each mode a merchant has at most ${KEY_QUOTA.ofMerchant} keys in force of its own, and the partner at most ${KEY_QUOTA.ofPartner} for all or several merchants. A repeated request issues another key. Needs a passkey shown within the last 5 minutes.`,
  body: Type.Object(
    {
      label,
      scopes: Type.Optional(scopes),
      merchantIds: Type.Optional(merchantIds),
      addresses: Type.Optional(addresses),
      expiresAt: Type.Optional(
        nullable({
          ...Timestamp,
          description:
            'The end of the key. Null: none, if the operator has set no longest lifetime. That lifetime, if it is missing.',
        } as typeof Timestamp),
      ),
    },
    { title: 'NewApiKey', additionalProperties: false },
  ),
  response: { 201: Type.Object({ apiKey: ApiKeyWithSecret }, { description: 'The key with its secret.' }) },
};

const Overlap = Type.Object(
  {
    overlapSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 90 * DAY_S,
        default: DAY_S,
        description: 'Seconds for which the old key still works. 0 ends it now.',
      }),
    ),
  },
  { title: 'KeyRotation', additionalProperties: false },
);

const ROTATE = {
  tags: TAGS,
  operationId: 'rotateApiKey',
  summary: 'Rotate an API key',
  description:
    'Issues a successor with the same rights, which counts against no limit. The old key works until the overlap is over. A key has one successor in force, and at most 5 older keys of its line work beside it. Needs a passkey shown within the last 5 minutes.',
  params: Params,
  body: Type.Unsafe<Static<typeof Overlap> | null>({ ...Overlap, type: ['object', 'null'] }),
  response: {
    201: Type.Object(
      { apiKey: ApiKeyWithSecret, replaced: ApiKeyBody },
      { description: 'The successor with its secret, and the old key with its end.' },
    ),
  },
};

const REVOKE = {
  tags: TAGS,
  operationId: 'revokeApiKey',
  summary: 'Revoke an API key',
  description:
    'Ends the key for good: every node refuses it within five seconds. Repeating it changes nothing. Needs a passkey shown within the last 5 minutes.',
  params: Params,
  response: {
    200: deletedBody('The key is revoked.'),
  },
};
