/** The form of a secret in Standard Webhooks: `whsec_` and base64. */
const FORM = /^whsec_([A-Za-z0-9+/]{32,86}={0,2})$/;
const LEAST_BYTES = 24;
const MOST_BYTES = 64;

export function isWebhookSecret(text: string): boolean {
  const encoded = FORM.exec(text)?.[1];
  if (encoded === undefined) return false;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length >= LEAST_BYTES && bytes.length <= MOST_BYTES && bytes.toString('base64') === encoded;
}
