import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from './key-ring.ts';
import { preparedKey } from './prepared-key.ts';

/**
 * A challenge for a passkey contains its expiry, random bytes, and a MAC over both and the use. Because of the MAC, the
 * challenges of visitors need not be stored, and each challenge is valid for one use and one session only.
 */

const TIME_BYTES = 6;
export const CHALLENGE_RANDOM_BYTES = 16;
const MAC_BYTES = 16;
const LENGTH = TIME_BYTES + CHALLENGE_RANDOM_BYTES + MAC_BYTES;

/** The validity of a challenge: the time that a person has to find the authenticator. */
export const CHALLENGE_MS = 5 * 60_000;

/** The use of a challenge. `subject` is the session, or empty for a visitor. */
export interface ChallengeUse {
  readonly purpose: 'sign-in' | 'verify' | 'register';
  readonly subject: string;
}

export function sealChallenge(
  [key]: KeyRing,
  use: ChallengeUse,
  endMs: number,
  random: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(LENGTH);
  const head = bytes.subarray(0, TIME_BYTES + CHALLENGE_RANDOM_BYTES);
  new DataView(bytes.buffer).setUint16(0, Math.floor(endMs / 2 ** 32));
  new DataView(bytes.buffer).setUint32(2, endMs % 2 ** 32);
  head.set(random.subarray(0, CHALLENGE_RANDOM_BYTES), TIME_BYTES);
  bytes.set(mac(key, use, head), head.length);
  return bytes;
}

/** The time at which the challenge expires. Undefined if it has expired, or if the gateway did not make it for this use. */
export function openChallenge(keys: KeyRing, use: ChallengeUse, text: string, nowMs: number): Date | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== LENGTH || bytes.toString('base64url') !== text) return undefined;
  const head = bytes.subarray(0, TIME_BYTES + CHALLENGE_RANDOM_BYTES);
  if (!keys.some((key) => timingSafeEqual(bytes.subarray(head.length), mac(key, use, head)))) return undefined;
  const endMs = head.readUIntBE(0, TIME_BYTES);
  return endMs > nowMs ? new Date(endMs) : undefined;
}

function mac(key: Uint8Array, { purpose, subject }: ChallengeUse, head: Uint8Array): Buffer {
  return createHmac('sha256', preparedKey(key))
    .update(JSON.stringify([purpose, subject]))
    .update(head)
    .digest()
    .subarray(0, MAC_BYTES);
}
