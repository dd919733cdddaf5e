import type { FastifyReply, FastifyRequest } from 'fastify';
import { merchantNotFound } from '../actions/change-merchant.ts';
import { hashApiKey, parseApiKey } from '../domain/api-key.ts';
import type { Mode } from '../domain/mode.ts';
import type { Scope } from '../domain/scope.ts';
import { checkVersionForm, DEFAULT_PIN, resolveVersion, type Version } from '../domain/version.ts';
import { ApiError } from '../errors.ts';
import type { KeyHolder } from '../store/api-keys.ts';
import { findMerchant, type Merchant, type Owner } from '../store/merchants.ts';
import type { WalletApp } from '../store/wallet-apps.ts';
import type { App, HttpDeps } from './deps.ts';
import { isPlausibleId } from './plausible-id.ts';
import { addressGroup, createRateLimit, type RateLimit } from './rate-limit.ts';

/**
 * Who may call a route. Every `/v1` route names it in its `config`, and the hook below checks it before the body is
 * read, in the order of the error catalogue: header bytes, form of the version, credentials, rate limit, version
 * against the pin, scope, merchant.
 */
export interface Access {
  /** `partner`: an Api-Key. `gateway`: an Api-Key, or an App-Id with a Client-Id. */
  readonly scheme: 'partner' | 'gateway';
  readonly scope: Scope;
  /** Where the route finds the merchant it is about, if it is about one. */
  readonly merchant?: 'path';
  /** The route also answers for deleted merchants. */
  readonly takesDeleted?: true;
}

export type Caller =
  | { readonly via: 'key'; readonly mode: Mode; readonly key: KeyHolder }
  | { readonly via: 'app'; readonly mode: Mode; readonly app: WalletApp };

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
  interface FastifyRequest {
    caller: Caller | undefined;
    apiVersion: Version | undefined;
    merchant: Merchant | undefined;
  }
}

const OUR_HEADERS = [
  'api-key',
  'x-api-key',
  'app-id',
  'client-id',
  'merchant-id',
  'pay-version',
  'wcp-version',
  'idempotency-key',
  'sdk-name',
  'sdk-version',
  'sdk-platform',
] as const;

export function guardRoutes(app: App, deps: HttpDeps): void {
  app.decorateRequest('caller', undefined);
  app.decorateRequest('apiVersion', undefined);
  app.decorateRequest('merchant', undefined);
  const onRefusal = () => deps.metrics.refusals.inc({ reason: 'rate_limited' });
  const { addressRequestsPerSecond, keyRequestsPerSecond } = deps.config;
  const limits = {
    address: createRateLimit(deps.world.clock, { name: 'address', perSecond: addressRequestsPerSecond, onRefusal }),
    key: createRateLimit(deps.world.clock, { name: 'key', perSecond: keyRequestsPerSecond, onRefusal }),
  };
  app.addHook('onRequest', async (request, reply) => {
    const { access } = request.routeOptions.config;
    if (access === undefined) return;
    checkHeaderBytes(request);
    const requested = checkForm(request);
    const caller = await identify(deps, limits, access, request, reply);
    request.caller = caller;
    request.apiVersion = settleVersion(reply, requested, caller);
    if (caller.via === 'key') checkScope(caller.key, access.scope);
    if (access.merchant === 'path') request.merchant = await findPathMerchant(deps, access, request);
  });
}

/** The key a partner route was called with. */
export function keyOf(request: FastifyRequest): KeyHolder {
  if (request.caller?.via !== 'key') throw new Error('This route is not open to callers without a key.');
  return request.caller.key;
}

/** Whose data the caller of a partner route sees. */
export function ownerOf(request: FastifyRequest): Owner {
  const { partnerId, mode } = keyOf(request);
  return { partnerId, mode };
}

/** The caller's name in the audit log. */
export function actorOf(request: FastifyRequest): string {
  return `key:${keyOf(request).id}`;
}

/** The merchant a merchant's route is about. */
export function merchantOf(request: FastifyRequest): Merchant {
  if (request.merchant === undefined) throw new Error('This route names no merchant.');
  return request.merchant;
}

export function headerOf(request: FastifyRequest, name: (typeof OUR_HEADERS)[number]): string | undefined {
  const value = request.headers[name];
  // An empty header says nothing, and proxies are known to send one in place of none.
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function checkHeaderBytes(request: FastifyRequest): void {
  for (const name of OUR_HEADERS) {
    const value = request.headers[name];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII itself
    if (value !== undefined && !/^[\x00-\x7f]*$/.test(String(value))) {
      throw new ApiError('header_not_ascii', `Header ${name} holds a character outside ASCII.`);
    }
  }
}

function checkForm(request: FastifyRequest): string | undefined {
  const form = checkVersionForm({
    payVersion: headerOf(request, 'pay-version'),
    wcpVersion: headerOf(request, 'wcp-version'),
  });
  if (!form.ok) throw new ApiError(form.code, form.message);
  return form.requested;
}

interface Limits {
  readonly address: RateLimit;
  readonly key: RateLimit;
}

async function identify(
  deps: HttpDeps,
  limits: Limits,
  access: Access,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  const credentials = access.scheme === 'partner' ? partnerCredentials(request) : gatewayCredentials(request);
  if (credentials.via === 'app') {
    limits.address.take(reply, addressGroup(request.ip));
    const app = await deps.apps.get(credentials.appId);
    if (app === undefined) throw new ApiError('invalid_app_id', 'The App-Id is unknown.');
    return { via: 'app', mode: app.mode, app };
  }
  const hash = hashApiKey(credentials.key);
  let key = deps.keys.peek(hash);
  if (key === undefined) {
    // Only a key this node does not know costs its address anything: guessing is limited, busy shops are not.
    limits.address.take(reply, addressGroup(request.ip));
    key = parseApiKey(credentials.key) === undefined ? undefined : await deps.keys.get(hash);
  }
  checkKey(key, deps.world.clock.nowMs());
  limits.key.take(reply, key.id);
  deps.keyUses.note(key.id);
  return { via: 'key', mode: key.mode, key };
}

type Credentials = { via: 'key'; key: string } | { via: 'app'; appId: string };

function partnerCredentials(request: FastifyRequest): Credentials {
  const key = headerOf(request, 'api-key');
  if (key === undefined) throw new ApiError('missing_api_key', 'Header Api-Key is missing.');
  return { via: 'key', key };
}

function gatewayCredentials(request: FastifyRequest): Credentials {
  const key = headerOf(request, 'api-key');
  const appId = headerOf(request, 'app-id');
  const clientId = headerOf(request, 'client-id');
  if (key !== undefined && appId !== undefined) {
    throw new ApiError('conflicting_auth_headers', 'Send either Api-Key or App-Id with Client-Id, not both.');
  }
  if (key !== undefined) return { via: 'key', key };
  if (appId !== undefined && clientId !== undefined) return { via: 'app', appId };
  if (appId !== undefined) throw new ApiError('missing_client_id', 'Header App-Id needs Client-Id beside it.');
  if (clientId !== undefined) throw new ApiError('missing_app_id', 'Header Client-Id needs App-Id beside it.');
  throw new ApiError('missing_auth_headers', 'Send Api-Key, or App-Id with Client-Id.');
}

function checkKey(key: KeyHolder | undefined, nowMs: number): asserts key is KeyHolder {
  const isOver =
    key !== undefined && (key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt.getTime() <= nowMs));
  if (key === undefined || isOver) throw new ApiError('invalid_api_key', 'The Api-Key is unknown, revoked or expired.');
  if (key.partnerDisabledAt !== null) throw new ApiError('unauthorized', 'The partner of this Api-Key is disabled.');
}

function settleVersion(reply: FastifyReply, requested: string | undefined, caller: Caller): Version {
  const pin = caller.via === 'key' ? caller.key.pinnedVersion : DEFAULT_PIN;
  const resolution = resolveVersion({ requested, pin });
  if (!resolution.ok) throw new ApiError(resolution.code, resolution.message);
  reply.header('Pay-Version', resolution.version);
  reply.header('WCP-Version', resolution.version);
  return resolution.version;
}

function checkScope(key: KeyHolder, scope: Scope): void {
  if (key.scopes === null || key.scopes.includes(scope)) return;
  throw new ApiError('forbidden', `This Api-Key lacks the scope ${scope}.`);
}

async function findPathMerchant(deps: HttpDeps, access: Access, request: FastifyRequest): Promise<Merchant> {
  const { merchantId } = request.params as { merchantId: string };
  const { merchantIds } = keyOf(request);
  if (merchantIds !== null && !merchantIds.includes(merchantId)) {
    throw new ApiError('forbidden', 'This Api-Key is not for this merchant.');
  }
  const merchant = isPlausibleId(merchantId)
    ? await findMerchant(deps.db.sql, ownerOf(request), merchantId)
    : undefined;
  if (merchant === undefined || (merchant.deletedAt !== null && !access.takesDeleted))
    throw merchantNotFound(merchantId);
  return merchant;
}
