import { createHmac, type KeyObject } from 'node:crypto';

/** This file signs webhooks as Standard Webhooks defines it. */

export const SECRET_BYTES = 32;
const PREFIX = 'whsec_';

export function secretText(bytes: Uint8Array): string {
  return `${PREFIX}${Buffer.from(bytes).toString('base64')}`;
}

export interface SignedMessage {
  /** The id of the event. It is the same for all attempts. */
  readonly id: string;
  readonly timestampS: number;
  readonly body: Uint8Array;
}

/** The value of `webhook-signature`: one signature for each secret, separated by spaces. */
export function signatureOf({ id, timestampS, body }: SignedMessage, secrets: readonly KeyObject[]): string {
  return secrets
    .map((secret) => {
      const hmac = createHmac('sha256', secret).update(`${id}.${timestampS}.`).update(body);
      return `v1,${hmac.digest('base64')}`;
    })
    .join(' ');
}
