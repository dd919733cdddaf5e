import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { merchantNotFound } from '../../actions/parties/change-merchant.ts';
import { isListedAddress } from '../../domain/address-list.ts';
import { hashApiKey, parseApiKey } from '../../domain/api-key.ts';
import type { Mode } from '../../domain/mode.ts';
import type { Origin } from '../../domain/origin.ts';
import type { Scope } from '../../domain/scope.ts';
import { checkVersionForm, DEFAULT_PIN, resolveVersion, type Version } from '../../domain/version.ts';
import { ApiError } from '../../errors.ts';
import { unshiftedWorld } from '../../runtime/shifted-clock.ts';
import type { KeyHolder } from '../../store/parties/api-keys.ts';
import { findPayableMerchants, type Owner, type PayableMerchant } from '../../store/parties/merchants.ts';
import type { WalletApp } from '../../store/parties/wallet-apps.ts';
import type { App, HttpDeps } from '../deps.ts';
import { createLoadGauge, type LoadGauge, type Priority } from './load-shedding.ts';
import { isPlausibleId } from './plausible-id.ts';
import { publicGate } from './public-gate.ts';
import { addressGroup, createRateLimit, type RateLimit } from './rate-limit.ts';
import { canWait, turnGate } from './turns.ts';

/**
 * The callers that a route admits. Every `/v1` route declares them in its `config`, and the hook below checks it before
 * the body is read, in the order of the error catalogue: header bytes, form of the version, credentials, rate limit,
 * version against the pin, scope, merchant. The address is checked with the credentials.
 */
export interface Access {
  /** `partner`: an Api-Key. `gateway`: that, or an App-Id with a Client-Id. `legacy`: an Api-Key or X-Api-Key. */
  readonly scheme: 'partner' | 'gateway' | 'legacy';
  readonly scope: Scope;
  /** The place of the merchant id in the request, if the route concerns a merchant. */
  readonly merchant?: 'path' | 'header';
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
    merchant: PayableMerchant | undefined;
  }
}

/** The parts of a request that are checked here, and the results of the checks. */
export interface Visit {
  readonly headers: IncomingHttpHeaders;
  readonly ip: string;
  readonly params: unknown;
  readonly raw: { readonly socket: object };
  caller: Caller | undefined;
  apiVersion: Version | undefined;
  merchant: PayableMerchant | undefined;
}

/** The headers of an answer in the making. */
export interface AnswerHeaders {
  header(name: string, value: string): unknown;
}

export const OUR_HEADERS = [
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

/** State shared by all checks. */
export interface Gates {
  readonly deps: HttpDeps;
  readonly limits: Limits;
  readonly load: LoadGauge;
  readonly lastKeys: WeakMap<object, HashedKey>;
}

/** The key that a connection sent last: it sends the same one again, and a hash takes several microseconds. */
interface HashedKey {
  readonly key: string;
  readonly hash: string;
}

/** A page loads up to this many files and icons. */
const CHEAP_FACTOR = 20;

export function createGates(deps: HttpDeps): Gates {
  const onRefusal = () => deps.metrics.refusals.inc({ reason: 'rate_limited' });
  const { addressRequestsPerSecond, keyRequestsPerSecond } = deps.config;
  const world = unshiftedWorld(deps.world);
  const limits = {
    address: createRateLimit(world.clock, { name: 'address', perSecond: addressRequestsPerSecond, onRefusal }),
    key: createRateLimit(world.clock, { name: 'key', perSecond: keyRequestsPerSecond, onRefusal }),
    cheap: createRateLimit(world.clock, {
      name: 'cheap',
      perSecond: addressRequestsPerSecond * CHEAP_FACTOR,
      onRefusal,
    }),
  };
  const load = createLoadGauge(world, {
    maxDelayMs: deps.config.maxEventLoopDelayMs,
    onRefusal: () => deps.metrics.refusals.inc({ reason: 'overloaded' }),
  });
  return { deps, limits, load, lastKeys: new WeakMap() };
}

export function guardRoutes(app: App, gates: Gates): void {
  app.decorateRequest('caller', undefined);
  app.decorateRequest('apiVersion', undefined);
  app.decorateRequest('merchant', undefined);
  app.addHook('onClose', async () => gates.load.stop());
  app.addHook('onRoute', (route) => {
    const { access, isCheap, takesTurns } = route.config ?? {};
    const { priority = access === undefined ? 'spare' : 'normal' } = route.config ?? {};
    const before = [route.onRequest ?? []].flat();
    if (takesTurns ?? (canWait(priority) && !isCheap)) {
      route.preHandler = [...[route.preHandler ?? []].flat(), turnGate(gates.deps.turns)];
    }
    if (access === undefined) {
      route.onRequest = [publicGate(gates, { priority, isCheap }), ...before];
      return;
    }
    route.onRequest = [...before, guardOf({ ...gates, access, priority })];
  });
}

/** In callback style: a known caller of a known merchant is let in without waiting for a turn of the event loop. */
function guardOf(gate: Gate) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
    try {
      const pending = admit({ gate, request, reply });
      if (pending === undefined) done();
      else pending.then(() => done(), done);
    } catch (error) {
      done(error as Error);
    }
  };
}

export interface Gate extends Gates {
  readonly access: Access;
  readonly priority: Priority;
}

interface Admission {
  readonly gate: Gate;
  readonly request: Visit;
  readonly reply: AnswerHeaders;
}

/** Throws or rejects with the refusal. Returns undefined when nothing has to be awaited. */
function admit(admission: Admission): Promise<void> | undefined {
  const { gate, request, reply } = admission;
  const { deps, limits, load, priority } = gate;
  load.check(priority);
  checkHeaderBytes(request);
  const requested = checkForm(request);
  const credentials = readCredentials(admission);
  const known = credentials.via === 'key' ? deps.keys.peek(hashOf(gate, request, credentials.key)) : undefined;
  if (known !== undefined && isInForce(known, deps.world.clock.nowMs())) {
    return welcome(admission, requested, { via: 'key', mode: known.mode, key: known });
  }
  // Only strangers count against their address: guessing is limited, busy shops are not. The holder of a revoked key is
  // a stranger.
  limits.address.take(reply, addressGroup(request.ip));
  return identify(deps, credentials).then((caller) => welcome(admission, requested, caller));
}

function hashOf({ lastKeys }: Gate, { raw: { socket } }: Visit, key: string): string {
  const last = lastKeys.get(socket);
  if (last?.key === key) return last.hash;
  const hash = hashApiKey(key);
  lastKeys.set(socket, { key, hash });
  return hash;
}

/** The checks after the caller is known. */
function welcome(admission: Admission, requested: string | undefined, caller: Caller): Promise<void> | undefined {
  const { gate, request, reply } = admission;
  const { deps, access } = gate;
  if (caller.via === 'key') count(admission, caller.key, deps.world.clock.nowMs());
  request.caller = caller;
  request.apiVersion = versionFor(requested, caller);
  reply.header('Pay-Version', request.apiVersion);
  reply.header('WCP-Version', request.apiVersion);
  if (caller.via === 'key') checkScope(caller.key, access.scope);
  if (access.merchant === undefined) return undefined;
  return admitMerchant(gate, request, merchantIdIn(access.merchant, request));
}

/** The checks of every request with a key. */
function count(admission: Admission, key: KeyHolder, nowMs: number): void {
  const { gate, reply } = admission;
  const { deps, limits } = gate;
  checkKey(key, nowMs);
  checkAddress(admission, key);
  limits.key.take(reply, key.id);
  deps.keyUses.note(key.id);
}

/** A stranger who has the key counts against their own address, and cannot use up the limit of the key's owner. */
function checkAddress({ gate, request, reply }: Admission, { addresses }: KeyHolder): void {
  if (addresses === null || isListedAddress(addresses, request.ip)) return;
  gate.limits.address.take(reply, addressGroup(request.ip));
  gate.deps.metrics.refusals.inc({ reason: 'address_not_allowed' });
  throw new ApiError('forbidden', `This Api-Key may not be used from the address ${request.ip}.`);
}

/** The merchant the request is about must be the caller's own. */
function admitMerchant({ deps, access }: Gate, request: Visit, id: string): Promise<void> | undefined {
  const { partnerId, mode, merchantIds } = keyOf(request);
  if (merchantIds !== null && !merchantIds.includes(id)) {
    throw new ApiError('forbidden', 'This Api-Key is not for this merchant.');
  }
  const accept = (merchant: PayableMerchant | undefined) => {
    const isOwn = merchant?.partnerId === partnerId && merchant.mode === mode;
    if (!isOwn || (merchant.deletedAt !== null && !access.takesDeleted)) throw merchantNotFound(id);
    request.merchant = merchant;
  };
  if (!isPlausibleId(id)) throw merchantNotFound(id);
  // A merchant's own routes show it as it is this moment; for its payments a look some seconds old will do, because
  // the insert looks again.
  const known = access.merchant === 'header' ? deps.merchants.peek(id) : undefined;
  if (known !== undefined) return void accept(known);
  const read = access.merchant === 'header' ? deps.merchants.get(id) : readMerchant(deps, id);
  return read.then(accept);
}

async function readMerchant(deps: HttpDeps, id: string): Promise<PayableMerchant | undefined> {
  const [merchant] = await findPayableMerchants(deps.db.sql, [id]);
  return merchant;
}

function merchantIdIn(place: 'path' | 'header', request: Visit): string {
  if (place === 'path') return (request.params as { merchantId: string }).merchantId;
  const id = headerOf(request, 'merchant-id');
  if (id === undefined) throw new ApiError('missing_merchant_id', 'Header Merchant-Id is missing.');
  return id;
}

/** The key a partner route was called with. */
export function keyOf(request: Visit): KeyHolder {
  if (request.caller?.via !== 'key') throw new Error('This route is not open to callers without a key.');
  return request.caller.key;
}

/** The owner whose data a partner route shows. */
export function ownerOf(request: FastifyRequest): Owner {
  const { partnerId, mode } = keyOf(request);
  return { partnerId, mode };
}

/** The caller's name in the audit log. */
export function actorOf(request: FastifyRequest): string {
  return `key:${keyOf(request).id}`;
}

/** The dependencies of an action that a request asks for: its audit entries record the address of the request. */
export function onBehalfOf(request: FastifyRequest, deps: HttpDeps): HttpDeps & { readonly origin: Origin } {
  return { ...deps, origin: { address: request.ip, requestId: request.id } };
}

/** The merchant of a merchant's route. */
export function merchantOf(request: Visit): PayableMerchant {
  if (request.merchant === undefined) throw new Error('This route names no merchant.');
  return request.merchant;
}

export function headerOf(request: Visit, name: (typeof OUR_HEADERS)[number]): string | undefined {
  const value = request.headers[name];
  // An empty header counts as missing: some proxies send one in place of none, or beside another one.
  return typeof value === 'string' ? withoutEmpty(value) : undefined;
}

/** Node.js joins repeated headers by this separator. */
const JOINT = ', ';

function withoutEmpty(value: string): string | undefined {
  if (!value.includes(JOINT)) return value === '' ? undefined : value;
  const [only, ...others] = value.split(JOINT).filter((part) => part !== '');
  return others.length === 0 ? only : value;
}

function checkHeaderBytes(request: Visit): void {
  for (const name of OUR_HEADERS) {
    const value = request.headers[name];
    if (value !== undefined && !isAscii(String(value))) {
      throw new ApiError('header_not_ascii', `Header ${name} holds a character outside ASCII.`);
    }
  }
}

function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII itself
  return /^[\x00-\x7f]*$/.test(text);
}

function checkForm(request: Visit): string | undefined {
  const form = checkVersionForm({
    payVersion: headerOf(request, 'pay-version'),
    wcpVersion: headerOf(request, 'wcp-version'),
  });
  if (!form.ok) throw new ApiError(form.code, form.message);
  return form.requested;
}

interface Limits {
  readonly address: RateLimit;
  /** Per address, for public requests that cost next to nothing. */
  readonly cheap: RateLimit;
  readonly key: RateLimit;
}

async function identify(deps: HttpDeps, credentials: Credentials): Promise<Caller> {
  if (credentials.via === 'app') {
    const app = await deps.apps.get(credentials.appId);
    if (app === undefined) throw new ApiError('invalid_app_id', 'The App-Id is unknown.');
    return { via: 'app', mode: app.mode, app };
  }
  const isWellFormed = parseApiKey(credentials.key) !== undefined;
  const key = isWellFormed ? await deps.keys.get(hashApiKey(credentials.key)) : undefined;
  if (key === undefined) throw unknownKey();
  return { via: 'key', mode: key.mode, key };
}

type Credentials = { via: 'key'; key: string } | { via: 'app'; appId: string };

/** A request without usable credentials counts against its address like a wrong guess. */
function readCredentials({ gate, request, reply }: Admission): Credentials {
  const { access, limits } = gate;
  try {
    if (access.scheme === 'gateway') return gatewayCredentials(request);
    return access.scheme === 'legacy' ? legacyCredentials(request) : partnerCredentials(request);
  } catch (error) {
    limits.address.take(reply, addressGroup(request.ip));
    throw error;
  }
}

/** Old clients of the deprecated list send their key under another name. */
function legacyCredentials(request: Visit): Credentials {
  const key = headerOf(request, 'x-api-key') ?? headerOf(request, 'api-key');
  if (key === undefined) throw new ApiError('missing_merchant_api_key', 'Header X-Api-Key is missing.');
  return { via: 'key', key };
}

function partnerCredentials(request: Visit): Credentials {
  const key = headerOf(request, 'api-key');
  if (key === undefined) throw new ApiError('missing_api_key', 'Header Api-Key is missing.');
  return { via: 'key', key };
}

function gatewayCredentials(request: Visit): Credentials {
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

function isOver({ revokedAt, expiresAt }: KeyHolder, nowMs: number): boolean {
  return revokedAt !== null || (expiresAt !== null && expiresAt.getTime() <= nowMs);
}

function isInForce(key: KeyHolder, nowMs: number): boolean {
  return !isOver(key, nowMs) && key.partnerDisabledAt === null;
}

function checkKey(key: KeyHolder, nowMs: number): void {
  const { partnerDisabledAt } = key;
  if (isOver(key, nowMs)) throw unknownKey();
  if (partnerDisabledAt !== null) throw new ApiError('unauthorized', 'The partner of this Api-Key is disabled.');
}

function unknownKey(): ApiError {
  return new ApiError('invalid_api_key', 'The Api-Key is unknown, revoked or expired.');
}

function versionFor(requested: string | undefined, caller: Caller): Version {
  const pin = caller.via === 'key' ? caller.key.pinnedVersion : DEFAULT_PIN;
  const resolution = resolveVersion({ requested, pin });
  if (!resolution.ok) throw new ApiError(resolution.code, resolution.message);
  return resolution.version;
}

export function checkScope(key: KeyHolder, scope: Scope): void {
  if (key.scopes === null || key.scopes.includes(scope)) return;
  throw new ApiError('forbidden', `This Api-Key lacks the scope ${scope}.`);
}
