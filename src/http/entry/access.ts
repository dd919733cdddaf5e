import type { FastifyReply, FastifyRequest } from 'fastify';
import { merchantNotFound } from '../../actions/parties/change-merchant.ts';
import { isListedAddress } from '../../domain/address-list.ts';
import { hashApiKey, parseApiKey } from '../../domain/api-key.ts';
import type { Mode } from '../../domain/mode.ts';
import { type Right, rightsOf } from '../../domain/role.ts';
import { hashToken, isSessionOver } from '../../domain/session.ts';
import { checkVersionForm, DEFAULT_PIN, resolveVersion, type Version } from '../../domain/version.ts';
import { ApiError } from '../../errors.ts';
import { unshifted, unshiftedWorld } from '../../runtime/shifted-clock.ts';
import type { KeyHolder } from '../../store/parties/api-keys.ts';
import { findPayableMerchants, type PayableMerchant } from '../../store/parties/merchants.ts';
import type { SessionHolder } from '../../store/people/sessions.ts';
import type { App, HttpDeps } from '../deps.ts';
import {
  type Caller,
  type CallerRights,
  callerRights,
  checkPasskey,
  checkRight,
  type PartnerCaller,
  type Visit,
} from './caller.ts';
import { type Credentials, credentialsIn, type Scheme, sessionModeIn } from './credentials.ts';
import { checkHeaderBytes, headerOf } from './headers.ts';
import { checkKey, isInForce, unknownKey } from './key-checks.ts';
import { createLoadGauge, type LoadGauge, type Priority } from './load-shedding.ts';
import { isPlausibleId } from './plausible-id.ts';
import { publicGate } from './public-gate.ts';
import { addressGroup, createRateLimit, type RateLimit } from './rate-limit.ts';
import { canWait, turnGate } from './turns.ts';

/**
 * The callers that a route admits. Every `/v1` route declares them in its `config`. The hook below checks a request before its body
 * is read, in the order of the error catalogue: header bytes, form of the version, credentials, rate limit, version against the
 * pinned version, scope, merchant. The client address is checked together with the credentials.
 */
export interface Access {
  readonly scheme: Scheme;
  /** A scope of keys and roles, or a right that only people have. */
  readonly scope: Right;
  /** The part of the request with the merchant id, if the route concerns a merchant. */
  readonly merchant?: 'path' | 'header';
  /** True if a request without the header `Merchant-Id` concerns all merchants of the caller. */
  readonly mayOmitMerchant?: true;
  /** True if the route also answers for deleted merchants. */
  readonly takesDeleted?: true;
  /** True if a person must have shown a passkey within the last minutes. */
  readonly needsPasskey?: true;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
  }
}

export interface AnswerHeaders {
  header(name: string, value: string): unknown;
}

export interface Gates {
  readonly deps: HttpDeps;
  readonly limits: Limits;
  readonly load: LoadGauge;
  readonly lastKeys: WeakMap<object, HashedKey>;
}

/** The last key of a connection and its hash. A connection sends the same key again, and hashing takes several microseconds. */
interface HashedKey {
  readonly key: string;
  readonly hash: string;
}

/**
 * The factor by which the limit of cheap public requests is higher than the limit of other public requests: one page loads up to
 * 20 files and icons.
 */
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

/**
 * The hook that checks the callers of a route. In callback style, so that a known caller of a known merchant is admitted without
 * waiting for a turn of the event loop.
 */
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

/** Checks a request and sets its caller. Throws or rejects with the refusal. Returns undefined if there is nothing to await. */
function admit(admission: Admission): Promise<void> | undefined {
  const { gate, request, reply } = admission;
  const { deps, limits, load, priority, access } = gate;
  load.check(priority);
  checkHeaderBytes(request);
  const requested = checkForm(request);
  if (access.scheme === 'visitor') {
    limits.address.take(reply, addressGroup(request.ip));
    sessionModeIn(request);
    return void setVersion(admission, requested, undefined);
  }
  const credentials = readCredentials(admission, access.scheme);
  const known = knownCaller(gate, credentials, request);
  if (known !== undefined) return welcome(admission, requested, known);
  // Only requests of unknown callers count against the limit of their address. So guessing keys is limited, and a busy shop is
  // not. A revoked key counts as unknown.
  limits.address.take(reply, addressGroup(request.ip));
  return identify(deps, credentials, request).then((caller) => welcome(admission, requested, caller));
}

/**
 * Checks the caller of a held read (a long poll) again. Throws if the key or session is no longer in force, or has lost the
 * right: the caller must then not see what happened since. Only reads are checked, because a change that was carried out is
 * answered in any case.
 */
export async function readmit(deps: HttpDeps, request: FastifyRequest): Promise<void> {
  const { access } = request.routeOptions.config;
  if (access === undefined || access.scheme === 'visitor' || request.method !== 'GET') return;
  const caller = await identify(deps, credentialsIn(request, access.scheme, deps.config.publicUrl), request);
  if (caller.via === 'app') return;
  if (caller.via === 'key') checkKey(caller.key, deps.world.clock.nowMs());
  else checkSession(deps, caller);
  checkScope(caller, access);
}

/** The caller, if it is in memory and its key or session is in force. */
function knownCaller(gate: Gate, credentials: Credentials, request: Visit): Caller | undefined {
  const { deps } = gate;
  if (credentials.via === 'key') {
    const key = deps.keys.peek(hashOf(gate, request, credentials.key));
    const isKnown = key !== undefined && isInForce(key, deps.world.clock.nowMs());
    return isKnown ? { via: 'key', mode: key.mode, rights: key, key } : undefined;
  }
  if (credentials.via === 'app') return undefined;
  const session = deps.sessions.peek(hashToken(credentials.token));
  const isKnown = session !== undefined && !isSessionOver(session, unshifted(deps.world.clock).nowMs());
  return isKnown ? callerOf(session, credentials.mode, request) : undefined;
}

function hashOf({ lastKeys }: Gate, { raw: { socket } }: Visit, key: string): string {
  const last = lastKeys.get(socket);
  if (last?.key === key) return last.hash;
  const hash = hashApiKey(key);
  lastKeys.set(socket, { key, hash });
  return hash;
}

function welcome(admission: Admission, requested: string | undefined, caller: Caller): Promise<void> | undefined {
  const { gate, request } = admission;
  const { access, deps } = gate;
  if (caller.via === 'key') count(admission, caller.key, deps.world.clock.nowMs());
  if (caller.via === 'session') countSession(admission, caller);
  request.caller = caller;
  setVersion(admission, requested, caller);
  if (caller.via !== 'app') checkScope(caller, access);
  if (access.needsPasskey) checkPasskey(request, deps);
  if (access.merchant === undefined) return undefined;
  if (access.mayOmitMerchant && headerOf(request, 'merchant-id') === undefined) return undefined;
  return admitMerchant(gate, request, merchantIdIn(access.merchant, request));
}

function setVersion({ request, reply }: Admission, requested: string | undefined, caller: Caller | undefined): void {
  request.apiVersion = versionFor(requested, caller);
  reply.header('Pay-Version', request.apiVersion);
  reply.header('WCP-Version', request.apiVersion);
}

function count(admission: Admission, key: KeyHolder, nowMs: number): void {
  const { gate, reply } = admission;
  const { deps, limits } = gate;
  checkKey(key, nowMs);
  checkAddress(admission, key);
  limits.key.take(reply, key.id);
  deps.keyUses.note(key.id);
}

function countSession({ gate, reply }: Admission, caller: Caller & { via: 'session' }): void {
  const { deps, limits } = gate;
  checkSession(deps, caller);
  limits.key.take(reply, caller.rights.id);
  deps.sessionUses.note(caller.session.id);
}

function checkSession({ world }: HttpDeps, { session }: Caller & { via: 'session' }): void {
  const { person, partnerDisabledAt, merchantDeletedAt } = session;
  const isOver = isSessionOver(session, unshifted(world.clock).nowMs()) || person.removedAt !== null;
  if (isOver || partnerDisabledAt !== null || merchantDeletedAt !== null) throw sessionOver();
}

function sessionOver(): ApiError {
  return new ApiError('unauthorized', 'Your session has ended. Sign in again.');
}

/**
 * The caller of a session, with its rights. For a person of the operator, a header of the request names the partner. Every other
 * person belongs to one partner.
 */
function callerOf(session: SessionHolder, mode: Mode, request: Visit): Caller {
  const { person } = session;
  const partnerId = person.partnerId ?? headerOf(request, 'partner-id') ?? '';
  const isElsewhere = person.mode !== null && person.mode !== mode;
  const rights: CallerRights = {
    id: person.id,
    partnerId,
    mode,
    scopes: isElsewhere ? [] : rightsOf(person, { isAbroad: partnerId !== '' }),
    merchantIds: person.merchantId === null ? null : [person.merchantId],
    pinnedVersion: DEFAULT_PIN,
  };
  return { via: 'session', mode, rights, session };
}

/**
 * Refuses a key that is used from an address outside its list. The request counts against the client's address, so a stranger with
 * a stolen key cannot use up the limit of the key's owner.
 */
function checkAddress({ gate, request, reply }: Admission, { addresses }: KeyHolder): void {
  if (addresses === null || isListedAddress(addresses, request.ip)) return;
  gate.limits.address.take(reply, addressGroup(request.ip));
  gate.deps.metrics.refusals.inc({ reason: 'address_not_allowed' });
  throw new ApiError('forbidden', `This Api-Key may not be used from the address ${request.ip}.`);
}

/** Refuses a request about a merchant that is not the caller's own. */
function admitMerchant({ deps, access }: Gate, request: Visit, id: string): Promise<void> | undefined {
  const { partnerId, mode, merchantIds } = callerRights(request);
  if (merchantIds !== null && !merchantIds.includes(id)) {
    throw new ApiError('forbidden', 'You may not act for this merchant.');
  }
  const accept = (merchant: PayableMerchant | undefined) => {
    const isOwn = merchant?.partnerId === partnerId && merchant.mode === mode;
    if (!isOwn || (merchant.deletedAt !== null && !access.takesDeleted)) throw merchantNotFound(id);
    request.merchant = merchant;
  };
  if (!isPlausibleId(id)) throw merchantNotFound(id);
  // A route with the merchant's id in its path reads the current row of the merchant. A route with the id in a header needs only
  // a cached row of the last seconds, because the insert of a payment checks the merchant again.
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
  /** The limit per address for public requests that cost very little. */
  readonly cheap: RateLimit;
  readonly key: RateLimit;
}

async function identify(deps: HttpDeps, credentials: Credentials, request: Visit): Promise<Caller> {
  if (credentials.via === 'app') {
    const app = await deps.apps.get(credentials.appId);
    if (app === undefined) throw new ApiError('invalid_app_id', 'The App-Id is unknown.');
    return { via: 'app', mode: app.mode, app };
  }
  if (credentials.via === 'session') {
    const session = await deps.sessions.get(hashToken(credentials.token));
    if (session === undefined) throw sessionOver();
    return callerOf(session, credentials.mode, request);
  }
  const isWellFormed = parseApiKey(credentials.key) !== undefined;
  const key = isWellFormed ? await deps.keys.get(hashApiKey(credentials.key)) : undefined;
  if (key === undefined) throw unknownKey();
  return { via: 'key', mode: key.mode, rights: key, key };
}

/**
 * Reads the credentials of a request. A request without usable credentials counts against the limit of its address, as a wrong
 * key does.
 */
function readCredentials({ gate, request, reply }: Admission, scheme: Exclude<Scheme, 'visitor'>): Credentials {
  try {
    return credentialsIn(request, scheme, gate.deps.config.publicUrl);
  } catch (error) {
    gate.limits.address.take(reply, addressGroup(request.ip));
    throw error;
  }
}

function versionFor(requested: string | undefined, caller: Caller | undefined): Version {
  const pin = caller === undefined || caller.via === 'app' ? DEFAULT_PIN : caller.rights.pinnedVersion;
  const resolution = resolveVersion({ requested, pin });
  if (!resolution.ok) throw new ApiError(resolution.code, resolution.message);
  return resolution.version;
}

function checkScope(caller: PartnerCaller, { scheme, scope }: Access): void {
  checkRight(caller, scope);
  if (scheme === 'partner' && caller.rights.partnerId === '') {
    throw new ApiError('forbidden', 'A person of the operator names the partner in the header Partner-Id.');
  }
}
