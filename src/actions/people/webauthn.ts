import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Passkey } from '../../store/people/passkeys.ts';

export type { AuthenticationResponseJSON, RegistrationResponseJSON };

/** The site of the passkeys: `origin` is the origin of the page, `id` its host. */
export interface Site {
  readonly origin: string;
  readonly id: string;
}

export function siteOf(publicUrl: string): Site {
  return { origin: publicUrl, id: new URL(publicUrl).hostname };
}

/** The signature algorithms Ed25519, ES256 and RS256: every authenticator supports one of them. */
const ALGORITHMS = [-8, -7, -257];

/** Loads the library on demand, because it is large and most processes never use a passkey. */
const library = () => import('@simplewebauthn/server');

/** The options of `navigator.credentials.create`, as JSON. */
export async function registrationOptions(
  site: Site,
  input: {
    readonly challenge: Uint8Array<ArrayBuffer>;
    readonly person: { readonly id: string; readonly name: string; readonly email: string };
    readonly known: readonly Passkey[];
  },
): Promise<object> {
  const { generateRegistrationOptions } = await library();
  const { challenge, person, known } = input;
  return generateRegistrationOptions({
    rpName: 'Till',
    rpID: site.id,
    userID: new TextEncoder().encode(person.id),
    userName: person.email,
    userDisplayName: person.name,
    challenge,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: known.map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** The options of `navigator.credentials.get`, as JSON. Without known passkeys the browser offers all passkeys of this site. */
export async function authenticationOptions(
  site: Site,
  input: { readonly challenge: Uint8Array<ArrayBuffer>; readonly known: readonly Passkey[] },
): Promise<object> {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: site.id,
    challenge: input.challenge,
    userVerification: 'required',
    allowCredentials: input.known.map(({ credentialId }) => ({ id: credentialId })),
  });
}

/** The passkey that an authenticator has created. Undefined if the answer is not valid for this site and challenge. */
export async function checkRegistration(
  site: Site,
  challenge: string,
  response: RegistrationResponseJSON,
): Promise<Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports'> | undefined> {
  if (isFramed(response)) return undefined;
  const { verifyRegistrationResponse } = await library();
  const result = await verifyRegistrationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: site.origin,
    expectedRPID: site.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch(() => undefined);
  if (result?.registrationInfo === undefined || !result.verified) return undefined;
  const { id, publicKey, counter, transports = [] } = result.registrationInfo.credential;
  return {
    credentialId: id,
    publicKey: Buffer.from(publicKey).toString('base64url'),
    counter: String(counter),
    transports,
  };
}

/** The new counter of the passkey. Undefined if the answer is not valid for this site, challenge and passkey. */
export async function checkAuthentication(
  site: Site,
  challenge: string,
  response: AuthenticationResponseJSON,
  passkey: Passkey,
): Promise<string | undefined> {
  if (isFramed(response)) return undefined;
  const { verifyAuthenticationResponse } = await library();
  const result = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: site.origin,
    expectedRPID: site.id,
    requireUserVerification: true,
    credential: {
      id: passkey.credentialId,
      publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
      counter: Number(passkey.counter),
    },
  }).catch(() => undefined);
  return result?.verified ? String(result.authenticationInfo.newCounter) : undefined;
}

type Answer = { readonly response: { readonly clientDataJSON: string } };

/** The challenge in an answer, as the authenticator signed it. */
export function challengeIn(response: Answer): string {
  const { challenge } = clientDataIn(response);
  return typeof challenge === 'string' ? challenge : '';
}

/** True if our page was in a frame of a page of another origin. Our pages refuse frames, but the library does not check this. */
function isFramed(response: Answer): boolean {
  const { crossOrigin = false, topOrigin } = clientDataIn(response);
  return crossOrigin !== false || topOrigin !== undefined;
}

/** The client data of an answer, unverified. Empty if it cannot be parsed. */
function clientDataIn({ response }: Answer): Readonly<Record<string, unknown>> {
  try {
    const data: unknown = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString());
    return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
