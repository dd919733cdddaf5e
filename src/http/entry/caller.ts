import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Mode } from '../../domain/mode.ts';
import type { Origin } from '../../domain/origin.ts';
import type { Right } from '../../domain/role.ts';
import { isVerified } from '../../domain/session.ts';
import type { Version } from '../../domain/version.ts';
import { ApiError } from '../../errors.ts';
import { unshifted } from '../../runtime/shifted-clock.ts';
import type { KeyHolder } from '../../store/parties/api-keys.ts';
import type { MerchantPlace, Owner, PayableMerchant } from '../../store/parties/merchants.ts';
import type { WalletApp } from '../../store/parties/wallet-apps.ts';
import type { SessionHolder } from '../../store/people/sessions.ts';
import type { HttpDeps } from '../deps.ts';

/** The rights of a key, or of the session of a person, and the owner and merchants they are for. */
export interface CallerRights extends Pick<KeyHolder, 'id' | 'partnerId' | 'mode' | 'merchantIds' | 'pinnedVersion'> {
  /** null: everything. */
  readonly scopes: readonly Right[] | null;
}

export type Caller =
  | { readonly via: 'key'; readonly mode: Mode; readonly rights: CallerRights; readonly key: KeyHolder }
  | { readonly via: 'session'; readonly mode: Mode; readonly rights: CallerRights; readonly session: SessionHolder }
  | { readonly via: 'app'; readonly mode: Mode; readonly app: WalletApp };

/** A caller of partner routes. */
export type PartnerCaller = Exclude<Caller, { via: 'app' }>;

declare module 'fastify' {
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

/** The rights that a partner route was called with: those of a key, or of the session of a person. */
export function callerRights(request: Visit): CallerRights {
  return partnerCallerOf(request).rights;
}

function partnerCallerOf({ caller }: Visit): PartnerCaller {
  if (caller === undefined || caller.via === 'app') throw new Error('This route is not open to callers without a key.');
  return caller;
}

/** The session that a route for people was called with. */
export function sessionOf(request: Visit): SessionHolder {
  if (request.caller?.via !== 'session') throw new Error('This route is open to people alone.');
  return request.caller.session;
}

/** The owner whose data a partner route shows. */
export function ownerOf(request: FastifyRequest): Owner {
  const { partnerId, mode } = callerRights(request);
  return { partnerId, mode };
}

/** The merchants whose objects a list shows: the named one, or all that the caller may act for. */
export function placeOf(request: FastifyRequest): MerchantPlace {
  const { merchant } = request;
  return merchant === undefined
    ? { ...ownerOf(request), merchantIds: callerRights(request).merchantIds }
    : { merchantId: merchant.id };
}

/** The caller's name in the audit log. */
export function actorOf(request: FastifyRequest): string {
  const { via } = request.caller ?? {};
  return `${via === 'session' ? 'person' : 'key'}:${callerRights(request).id}`;
}

/** The dependencies of an action that a request asks for: its audit entries record the address of the request. */
export function onBehalfOf(request: FastifyRequest, deps: HttpDeps): HttpDeps & { readonly origin: Origin } {
  const { caller } = request;
  const { partnerId = '' } = caller === undefined || caller.via === 'app' ? {} : caller.rights;
  const merchantId = caller?.via === 'session' ? caller.session.person.merchantId : null;
  const place = { ...(partnerId !== '' && { partnerId }), ...(merchantId !== null && { merchantId }) };
  return { ...deps, origin: { address: request.ip, requestId: request.id, ...place } };
}

/** The merchant of a merchant's route. */
export function merchantOf(request: Visit): PayableMerchant {
  if (request.merchant === undefined) throw new Error('This route names no merchant.');
  return request.merchant;
}

/** Refuses a caller that lacks the right. */
export function checkRight({ via, rights: { scopes } }: PartnerCaller, scope: Right): void {
  if (scopes === null || scopes.includes(scope)) return;
  throw new ApiError('forbidden', `${via === 'key' ? 'This Api-Key lacks' : 'Your role lacks'} the scope ${scope}.`);
}

/** The check of a request that asks for more than its route: for another scope, and for the passkey of a person. */
export function checkFurther(request: Visit, deps: Pick<HttpDeps, 'world'>, scope: Right): void {
  checkRight(partnerCallerOf(request), scope);
  checkPasskey(request, deps);
}

/** A stolen session must not be enough for changes that move money or rights. Keys have no passkeys. */
export function checkPasskey({ caller }: Visit, { world }: Pick<HttpDeps, 'world'>): void {
  if (caller?.via !== 'session' || isVerified(caller.session, unshifted(world.clock).nowMs())) return;
  throw new ApiError('forbidden', 'Show your passkey again for this change.', { details: { needs: 'passkey' } });
}
