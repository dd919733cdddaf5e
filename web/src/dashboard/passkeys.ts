import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
} from '@simplewebauthn/browser';
import { ApiProblem, call } from './api.ts';

export const offersPasskeys = browserSupportsWebAuthn;

export async function signInByPasskey(): Promise<void> {
  const { options } = await call<{ options: PublicKeyCredentialRequestOptionsJSON }>('POST', '/v1/sessions/challenge');
  const passkey = await startAuthentication({ optionsJSON: options });
  await call('POST', '/v1/sessions', { body: { passkey } });
}

/** Asks the person for the passkey again, for a change that requires it. */
export async function verifyPasskey(): Promise<void> {
  const path = '/v1/sessions/current/challenge';
  const { options } = await call<{ options: PublicKeyCredentialRequestOptionsJSON }>('POST', path, {
    body: { purpose: 'verify' },
  });
  const passkey = await startAuthentication({ optionsJSON: options });
  await call('POST', '/v1/sessions/current/verify', { body: { passkey } });
}

export async function addPasskey(label: string): Promise<void> {
  const path = '/v1/sessions/current/challenge';
  const { options } = await call<{ options: PublicKeyCredentialCreationOptionsJSON }>('POST', path, {
    body: { purpose: 'register' },
  });
  const passkey = await startRegistration({ optionsJSON: options });
  await call('POST', '/v1/passkeys', { body: { label, passkey } });
}

export function deviceName(): string {
  const { userAgent } = navigator;
  const known = ['iPhone', 'iPad', 'Android', 'Mac', 'Windows', 'CrOS', 'Linux'].find((name) =>
    userAgent.includes(name),
  );
  return known ?? 'Passkey';
}

/** True if the person closed the browser's dialog, or the dialog timed out. */
export function wasCancelled(error: unknown): boolean {
  return !(error instanceof ApiProblem) && error instanceof Error && /^(NotAllowed|Abort)Error$/.test(error.name);
}
