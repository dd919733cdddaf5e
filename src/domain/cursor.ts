import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from './key-ring.ts';

const MAC_BYTES = 16;
const MAX_LENGTH = 1024;
/** Positions are padded to a multiple of this: their length would show how many there are. */
const BLOCK_BYTES = 16;

/**
 * A cursor is a position in a list, bound to the query it came from, encrypted and authenticated. It can be neither altered
 * nor carried to another query, and it shows nothing: the position of an event counts the events of all partners. The same
 * position has the same cursor, so the nonce is its MAC.
 */
export function sealCursor([key]: KeyRing, query: string, position: readonly string[]): string {
  const text = JSON.stringify(position);
  // White space behind JSON means nothing.
  const bytes = Buffer.byteLength(text);
  const payload = Buffer.from(text + ' '.repeat(Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES - bytes));
  const nonce = mac(key, query, payload);
  const cipher = createCipheriv('aes-256-ctr', encryptionKey(key), nonce);
  return Buffer.concat([nonce, cipher.update(payload), cipher.final()]).toString('base64url');
}

/** The position, or undefined when the cursor was not made by us for this very query. */
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
    // Earlier versions did not encrypt. Their cursors stay valid.
    const payload = [opened, sealed].find((each) => timingSafeEqual(nonce, mac(key, query, each)));
    if (payload !== undefined) return JSON.parse(payload.toString()) as string[];
  }
  return undefined;
}

function encryptionKey(key: Uint8Array): Buffer {
  return createHmac('sha256', key).update('encryption').digest();
}

function mac(key: Uint8Array, query: string, payload: Uint8Array): Buffer {
  return createHmac('sha256', key).update(query).update('\0').update(payload).digest().subarray(0, MAC_BYTES);
}
