import type { TillEvent } from './api-types.ts';
import { WebhookError } from './errors.ts';
import { webCrypto } from './web-crypto.ts';

/** The headers of a request: a `Headers` object, or the plain object of Node and most frameworks. */
export type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** The largest permitted difference between the clocks of sender and receiver, in seconds. Default: 300. */
  readonly toleranceS?: number;
}

export interface SignInput {
  /** The id of the event. It stays the same when the webhook is sent again. */
  readonly id: string;
  readonly body: string;
  /** The secret of the receiver, `whsec_…`. */
  readonly secret: string;
  /** The time of signing, in Unix seconds. Default: now. */
  readonly timestampS?: number;
}

const PREFIX = 'whsec_';
const VERSION = 'v1,';
const HMAC = { name: 'HMAC', hash: 'SHA-256' };
const DEFAULT_TOLERANCE_S = 300;
/**
 * The largest number of signatures that are checked, as a bound against long headers. A webhook has one signature for each secret in
 * force.
 */
const MAX_SIGNATURES = 16;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/**
 * Checks that a request was signed with one of the secrets and is not old, and returns its event. Otherwise it throws a
 * `WebhookError`. Pass the body as it arrived, not parsed.
 *
 * Webhooks can arrive twice and in any order. Both copies have the same `event.id`. Of two events about one object, the event
 * with the greater `sequence` is newer.
 *
 * @example
 * const body = await request.text();
 * const event = await webhooks.verify(body, request.headers, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
 * if (event.type === 'payment.succeeded') console.log(`${event.data.referenceId} is paid`);
 */
export async function verify(
  body: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike,
  secrets: string | readonly string[],
  { toleranceS = DEFAULT_TOLERANCE_S }: VerifyOptions = {},
): Promise<TillEvent> {
  const bytes = bytesOf(body);
  const keys = (typeof secrets === 'string' ? [secrets] : secrets).map(keyOf);
  if (keys.length === 0) throw new TypeError('Name at least one secret.');
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = signaturesIn(headerOf(headers, 'webhook-signature'));
  checkTime(timestamp, toleranceS);
  if (!(await isSigned(signed(id, timestamp, bytes), signatures, keys))) {
    throw new WebhookError(
      'no_match',
      'No signature of the webhook fits: the secret is another one, or the body was changed.',
    );
  }
  return eventIn(bytes);
}

/**
 * The headers of a webhook with this body, to test your own receiver.
 *
 * @example
 * const body = JSON.stringify({ id: 'evt_1', type: 'payment.succeeded', data: {} });
 * const headers = await webhooks.sign({ id: 'evt_1', body, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' });
 * await webhooks.verify(body, headers, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
 */
export async function sign({ id, body, secret, timestampS }: SignInput): Promise<Record<string, string>> {
  const timestamp = String(timestampS ?? Math.floor(Date.now() / 1000));
  const { subtle } = await webCrypto();
  const key = await subtle.importKey('raw', keyOf(secret), HMAC, false, ['sign']);
  const signature = await subtle.sign(HMAC, key, signed(id, timestamp, bytesOf(body)));
  const text = btoa(String.fromCharCode(...new Uint8Array(signature)));
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': VERSION + text };
}

/**
 * True if one of the signatures is right for one of the keys. Web Crypto compares in constant time. All pairs are compared, so that
 * the duration does not reveal the matching one.
 */
async function isSigned(
  text: Uint8Array<ArrayBuffer>,
  signatures: readonly Uint8Array<ArrayBuffer>[],
  keys: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  const { subtle } = await webCrypto();
  let isFound = false;
  for (const bytes of keys) {
    const key = await subtle.importKey('raw', bytes, HMAC, false, ['verify']);
    for (const signature of signatures) isFound = (await subtle.verify(HMAC, key, signature, text)) || isFound;
  }
  return isFound;
}

function signed(id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const text = new Uint8Array(head.length + body.length);
  text.set(head);
  text.set(body, head.length);
  return text;
}

function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new TypeError('The body must be the text or the bytes of the request as they arrived, not parsed JSON.');
}

/** The bytes of a secret. Error messages never contain the secret. */
function keyOf(secret: string): Uint8Array<ArrayBuffer> {
  const text = typeof secret === 'string' && secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '';
  const bytes = text === '' ? undefined : fromBase64(text);
  if (bytes === undefined) throw new TypeError('The secret must be whsec_ and base64.');
  return bytes;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  return BASE64.test(text) ? Uint8Array.from(atob(text), (char) => char.charCodeAt(0)) : undefined;
}

/** The value of a header. A header that occurs twice is ambiguous, so it counts as missing. */
function headerOf(headers: HeadersLike, name: string): string {
  const value = typeof headers.get === 'function' ? headers.get(name) : findHeader(headers as HeaderRecord, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookError('missing_header', `The header ${name} is missing.`);
}

type HeaderRecord = Readonly<Record<string, string | readonly string[] | undefined>>;

function findHeader(headers: HeaderRecord, name: string): string | undefined {
  const found = Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? (value ?? []) : []));
  return found.length === 1 ? found[0] : undefined;
}

/** The signatures in the header. Signatures of other versions are ignored. */
function signaturesIn(header: string): Uint8Array<ArrayBuffer>[] {
  return header
    .split(' ')
    .slice(0, MAX_SIGNATURES)
    .flatMap((part) => (part.startsWith(VERSION) ? (fromBase64(part.slice(VERSION.length)) ?? []) : []));
}

function checkTime(timestamp: string, toleranceS: number): void {
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookError('bad_timestamp', 'webhook-timestamp is not a number of seconds.');
  const ageS = Date.now() / 1000 - Number(timestamp);
  if (!(ageS <= toleranceS)) throw new WebhookError('too_old', 'The webhook is too old.');
  if (!(ageS >= -toleranceS)) throw new WebhookError('too_new', 'The webhook is from the future: compare the clocks.');
}

function eventIn(bytes: Uint8Array): TillEvent {
  try {
    const event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof event?.type === 'string') return event;
  } catch {
    // Text that is not JSON gets the same error as a body that is not an event.
  }
  throw new WebhookError('bad_body', 'The body of the webhook is not an event.');
}
