import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from './key-ring.ts';
import { preparedKey } from './prepared-key.ts';

/** The length of the secret part of a URL. The secret is a MAC of the rest of the URL, so only the gateway can compute it. */
const SECRET_BYTES = 16;

export function linkSecret([key]: KeyRing, text: string): string {
  return mac(key, text).toString('base64url');
}

export function isLinkSecret(keys: KeyRing, text: string, secret: string): boolean {
  const bytes = Buffer.from(secret, 'base64url');
  // Base64 has several spellings of the same bytes; only the canonical one is accepted.
  if (bytes.length !== SECRET_BYTES || bytes.toString('base64url') !== secret) return false;
  return keys.some((key) => timingSafeEqual(bytes, mac(key, text)));
}

function mac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', preparedKey(key)).update(text).digest().subarray(0, SECRET_BYTES);
}
