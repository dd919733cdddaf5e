import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { invitePerson } from '../../src/actions/people/invite-person.ts';
import type { Mode } from '../../src/domain/mode.ts';
import type { Belonging, RefundLimit, Role } from '../../src/domain/role.ts';
import { type AuthenticatorInput, createAuthenticator } from '../authenticator.ts';
import type { TestGateway } from '../gateway.ts';

export const OWN_PAGE = { 'sec-fetch-site': 'same-origin', 'session-mode': 'test' };

export interface NewPerson {
  readonly belonging: Belonging;
  readonly role?: Role;
  readonly refundLimits?: readonly RefundLimit[] | null;
  readonly name?: string;
}

export function ofPartner(partnerId: string): Belonging {
  return { belongsTo: 'partner', partnerId, merchantId: null, mode: null };
}

export function ofMerchant(partnerId: string, merchantId: string, mode: Mode = 'test'): Belonging {
  return { belongsTo: 'merchant', partnerId, merchantId, mode };
}

export const OF_OPERATOR: Belonging = { belongsTo: 'operator', partnerId: null, merchantId: null, mode: null };

let count = 0;

/** Invites a person as an operator would. */
export function invite(gateway: TestGateway, { belonging, role = 'owner', refundLimits = null, name }: NewPerson) {
  count += 1;
  const email = `person${count}@shop.example`;
  return invitePerson(gateway, {
    actor: 'test',
    belonging,
    role,
    refundLimits,
    email,
    name: name ?? `Person ${count}`,
  });
}

export type Headers = Record<string, string>;

/** The cookie that an answer sets. */
export function cookieOf(response: LightMyRequestResponse): string {
  return String(response.headers['set-cookie']).split(';')[0] ?? '';
}

/** A person who is signed in by the link of the invitation. */
export async function signIn(gateway: TestGateway, person: NewPerson) {
  const { person: invited, link } = await invite(gateway, person);
  const response = await gateway.call({
    method: 'POST',
    url: '/v1/sessions',
    headers: OWN_PAGE,
    payload: { link: link.token },
  });
  if (response.statusCode !== 201) throw new Error(`Nobody is signed in: ${response.body}`);
  const headers: Headers = { ...OWN_PAGE, cookie: cookieOf(response) };
  return { person: invited, headers, sessionId: response.json().session.id as string };
}

/** Requests of one person. */
export function browserOf(gateway: TestGateway, headers: Headers) {
  return (method: InjectOptions['method'], url: string, payload?: object, more: Headers = {}) =>
    gateway.call({ method, url, headers: { ...headers, ...more }, ...(payload && { payload }) });
}

export function newAuthenticator(gateway: TestGateway, input: Partial<AuthenticatorInput> = {}) {
  const { publicUrl } = gateway.config;
  return createAuthenticator({ origin: publicUrl, rpId: new URL(publicUrl).hostname, ...input });
}

/** Adds a passkey to the person of these headers. */
export async function addPasskey(gateway: TestGateway, headers: Headers, authenticator = newAuthenticator(gateway)) {
  const call = browserOf(gateway, headers);
  const { options } = (await call('POST', '/v1/sessions/current/challenge', { purpose: 'register' })).json();
  const response = await call('POST', '/v1/passkeys', { label: 'Laptop', passkey: authenticator.create(options) });
  return { authenticator, response };
}
