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

/** The rights of a key or of a person's session, with the owner and merchants that they apply to. */
export interface CallerRights extends Pick<KeyHolder, 'id' | 'partnerId' | 'mode' | 'merchantIds' | 'pinnedVersion'> {
  /** The scopes and further rights. Null means every right. */
  readonly scopes: readonly Right[] | null;
}

export type Caller =
  | { readonly via: 'key'; readonly mode: Mode; readonly rights: CallerRights; readonly key: KeyHolder }
  | { readonly via: 'session'; readonly mode: Mode; readonly rights: CallerRights; readonly session: SessionHolder }
  | { readonly via: 'app'; readonly mode: Mode; readonly app: WalletApp };

export type PartnerCaller = Exclude<Caller, { via: 'app' }>;

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | undefined;
    apiVersion: Version | undefined;
    merchant: PayableMerchant | undefined;
  }
}

/** The parts of a request that the checks read, and their results. */
export interface Visit {
  readonly headers: IncomingHttpHeaders;
  readonly ip: string;
  readonly params: unknown;
  readonly raw: { readonly socket: object };
  caller: Caller | undefined;
  apiVersion: Version | undefined;
  merchant: PayableMerchant | undefined;
}

export function callerRights(request: Visit): CallerRights {
  return partnerCallerOf(request).rights;
}

function partnerCallerOf({ caller }: Visit): PartnerCaller {
  if (caller === undefined || caller.via === 'app') throw new Error('This route is not open to callers without a key.');
  return caller;
}

export function sessionOf(request: Visit): SessionHolder {
  if (request.caller?.via !== 'session') throw new Error('This route is open to people alone.');
  return request.caller.session;
}

export function ownerOf(request: FastifyRequest): Owner {
  const { partnerId, mode } = callerRights(request);
  return { partnerId, mode };
}

/** The owner of the objects that a list shows: the named merchant, or all merchants that the caller may act for. */
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

/** The dependencies of an action, with the origin of the request for the audit log. */
export function onBehalfOf(request: FastifyRequest, deps: HttpDeps): HttpDeps & { readonly origin: Origin } {
  const { caller } = request;
  const { partnerId = '' } = caller === undefined || caller.via === 'app' ? {} : caller.rights;
  const merchantId = caller?.via === 'session' ? caller.session.person.merchantId : null;
  const place = { ...(partnerId !== '' && { partnerId }), ...(merchantId !== null && { merchantId }) };
  return { ...deps, origin: { address: request.ip, requestId: request.id, ...place } };
}

export function merchantOf(request: Visit): PayableMerchant {
  if (request.merchant === undefined) throw new Error('This route names no merchant.');
  return request.merchant;
}

export function checkRight({ via, rights: { scopes } }: PartnerCaller, scope: Right): void {
  if (scopes === null || scopes.includes(scope)) return;
  throw new ApiError('forbidden', `${via === 'key' ? 'This Api-Key lacks' : 'Your role lacks'} the scope ${scope}.`);
}

/** Checks more than the route requires: a further scope, and for people a passkey. Refuses the request if one is missing. */
export function checkFurther(request: Visit, deps: Pick<HttpDeps, 'world'>, scope: Right): void {
  checkRight(partnerCallerOf(request), scope);
  checkPasskey(request, deps);
}

/**
 * Refuses a session without a recent passkey: a stolen session must not be enough for changes that move money or rights. Keys have
 * no passkeys.
 */
export function checkPasskey({ caller }: Visit, { world }: Pick<HttpDeps, 'world'>): void {
  if (caller?.via !== 'session' || isVerified(caller.session, unshifted(world.clock).nowMs())) return;
  throw new ApiError('forbidden', 'Show your passkey again for this change.', { details: { needs: 'passkey' } });
}
