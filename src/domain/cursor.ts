import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import type { KeyRing } from './key-ring.ts';
import { preparedKey } from './prepared-key.ts';

const MAC_BYTES = 16;
const MAX_LENGTH = 1024;
/** Positions in cursors are padded to a multiple of this. Otherwise the length of a cursor would show how many events there are. */
const BLOCK_BYTES = 16;

/**
 * A cursor is a position in a list, bound to its query, encrypted and authenticated. A caller can neither alter it nor use it
 * for another query. It is encrypted because the position of an event counts the events of all partners. The nonce is the MAC
 * of the position, so that the same position has the same cursor.
 */
export function sealCursor([key]: KeyRing, query: string, position: readonly string[]): string {
  const text = JSON.stringify(position);
  // Padding: JSON allows white space at the end.
  const bytes = Buffer.byteLength(text);
  const payload = Buffer.from(text + ' '.repeat(Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES - bytes));
  const nonce = mac(key, query, payload);
  const cipher = createCipheriv('aes-256-ctr', encryptionKey(key), nonce);
  return Buffer.concat([nonce, cipher.update(payload), cipher.final()]).toString('base64url');
}

/**
 * The id of an audit entry or of a request in answers of the API. It is the encrypted row number, because the number counts the
 * rows of all partners. A row keeps its id until the master secret is rotated.
 */
export function sealNumber(keys: KeyRing, kind: 'audit entry' | 'request', number: string): string {
  return sealCursor(keys, kind, [number]);
}

/** The position in a cursor. Undefined if the gateway did not make the cursor for this query. */
export function openCursor(keys: KeyRing, query: string, cursor: string): readonly string[] | undefined {
  if (cursor.length > MAX_LENGTH || !/^[\w-]+$/.test(cursor)) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  // Base64 has several spellings of the same bytes; only the canonical one is accepted.
  if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== cursor) return undefined;
  const nonce = bytes.subarray(0, MAC_BYTES);
  const sealed = bytes.subarray(MAC_BYTES);
  for (const key of keys) {
    const decipher = createDecipheriv('aes-256-ctr', encryptionKey(key), nonce);
    const opened = Buffer.concat([decipher.update(sealed), decipher.final()]);
    // Earlier versions authenticated cursors without encrypting them. Such cursors stay valid.
    const payload = [opened, sealed].find((each) => timingSafeEqual(nonce, mac(key, query, each)));
    if (payload !== undefined) return JSON.parse(payload.toString()) as string[];
  }
  return undefined;
}

const encryptionKeys = new WeakMap<Uint8Array, KeyObject>();

function encryptionKey(key: Uint8Array): KeyObject {
  let derived = encryptionKeys.get(key);
  if (derived === undefined) {
    derived = createSecretKey(createHmac('sha256', preparedKey(key)).update('encryption').digest());
    encryptionKeys.set(key, derived);
  }
  return derived;
}

function mac(key: Uint8Array, query: string, payload: Uint8Array): Buffer {
  return createHmac('sha256', preparedKey(key))
    .update(query)
    .update('\0')
    .update(payload)
    .digest()
    .subarray(0, MAC_BYTES);
}
