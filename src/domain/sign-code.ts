import { isId } from './ids.ts';
import type { KeyRing } from './key-ring.ts';
import { isLinkSecret, linkSecret } from './link-secret.ts';

/**
 * The code of a refund for the account that signs for it: the refund's id, a dot and a secret. The id alone is no secret, because
 * payers can compute it from the id of their payment. A stranger must not open the request to sign, because an open request stops
 * all other funding of the refund.
 */
export function signCode(keys: KeyRing, refundId: string): string {
  return `${refundId}.${linkSecret(keys, refundId)}`;
}

/** The id of the refund in a code. Undefined if the gateway did not make the code. */
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

/** The code of a refund, from the path of its signing page without `SIGN_PATH`. */
export function codeInPath(rest: string): string {
  return PREFIX + rest;
}
