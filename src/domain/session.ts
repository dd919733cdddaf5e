import { hash } from 'node:crypto';

/** The number of random bytes in a token. 256 bits cannot be guessed, so a fast hash without salt is a safe way to store a token. */
export const TOKEN_BYTES = 32;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The time without a request after which a session ends. */
export const IDLE_MS = 12 * HOUR_MS;
/** The maximum age of a session, even if it is in use. */
export const SESSION_MS = 7 * DAY_MS;
/** The maximum age of a session that began with a one-time link, as long as no passkey was used in it. */
export const LINK_SESSION_MS = 12 * HOUR_MS;
/** The time after the use of a passkey in which sensitive changes need no further passkey. */
export const VERIFIED_MS = 5 * MINUTE_MS;
export const LINK_MS = 3 * DAY_MS;

export interface SessionTimes {
  readonly expiresAt: Date;
  readonly lastUsedAt: Date;
  readonly endedAt: Date | null;
}

export function isSessionOver({ expiresAt, lastUsedAt, endedAt }: SessionTimes, nowMs: number): boolean {
  return endedAt !== null || expiresAt.getTime() <= nowMs || lastUsedAt.getTime() + IDLE_MS <= nowMs;
}

/** True if the person has just used a passkey, or has no passkey and has just used a one-time link. */
export function isVerified({ verifiedAt }: { readonly verifiedAt: Date }, nowMs: number): boolean {
  return verifiedAt.getTime() + VERIFIED_MS > nowMs;
}

export function secretToken(random: Uint8Array): string {
  return Buffer.from(random).toString('base64url');
}

export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}
