import { isId } from './ids.ts';
import type { KeyRing } from './key-ring.ts';
import { isLinkSecret, linkSecret } from './link-secret.ts';

/**
 * The name of a refund for the account that signs for it: the id, a dot and a secret. The id alone follows from that of
 * the payment, which payers know, and the request to sign keeps every other money from paying the refund meanwhile.
 */
export function signCode(keys: KeyRing, refundId: string): string {
  return `${refundId}.${linkSecret(keys, refundId)}`;
}

/** The refund of a code that we made. */
export function openSignCode(keys: KeyRing, code: string): string | undefined {
  const [refundId = '', secret = '', ...more] = code.split('.');
  if (more.length > 0 || !isId('rfnd_', refundId)) return undefined;
  return isLinkSecret(keys, refundId, secret) ? refundId : undefined;
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
