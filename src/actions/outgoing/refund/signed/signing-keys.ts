import type { KeyRing } from '../../../../domain/key-ring.ts';
import type { Secrets } from '../../../../runtime/secrets.ts';

/** Keys of the secrets in the links where merchants sign for refunds. */
export function signingKeysOf(secrets: Secrets): KeyRing {
  return secrets.deriveEach('refund signing');
}
