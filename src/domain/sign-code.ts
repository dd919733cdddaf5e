import { createHmac, timingSafeEqual } from 'node:crypto';
import { isId } from './ids.ts';
import type { KeyRing } from './key-ring.ts';

/**
 * The name of a refund for the account that signs for it: the id, a dot and a secret. The id alone follows from that of
 * the payment, which payers know, and the request to sign keeps every other money from paying the refund meanwhile.
 */
const MAC_BYTES = 16;

export function signCode([key]: KeyRing, refundId: string): string {
  return `${refundId}.${mac(key, refundId).toString('base64url')}`;
}

/** The refund of a code that we made. */
export function openSignCode(keys: KeyRing, code: string): string | undefined {
  const [refundId = '', secret = '', ...more] = code.split('.');
  const bytes = Buffer.from(secret, 'base64url');
  // Base64 has several spellings of the same bytes; only the canonical one is accepted.
  const isWhole = bytes.length === MAC_BYTES && bytes.toString('base64url') === secret && more.length === 0;
  if (!isWhole || !isId('rfnd_', refundId)) return undefined;
  return keys.some((key) => timingSafeEqual(bytes, mac(key, refundId))) ? refundId : undefined;
}

export const SIGN_PATH = '/r/';
const PREFIX = 'rfnd_';

/** The path of the page where the merchant's account signs for a refund. */
export function signPath(keys: KeyRing, refundId: string): string {
  return SIGN_PATH + signCode(keys, refundId).slice(PREFIX.length);
}

/** The code in the path of that page. */
export function codeInPath(rest: string): string {
  return PREFIX + rest;
}

function mac(key: Uint8Array, refundId: string): Buffer {
  return createHmac('sha256', key).update(refundId).digest().subarray(0, MAC_BYTES);
}
