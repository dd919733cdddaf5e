import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from './key-ring.ts';

const MAC_BYTES = 16;
const MAX_LENGTH = 1024;

/**
 * A cursor is a position in a list, bound to the query it came from and signed, so that it can be neither altered nor
 * carried to another query. To clients it is an opaque text.
 */
export function sealCursor([key]: KeyRing, query: string, position: readonly string[]): string {
  const payload = Buffer.from(JSON.stringify(position));
  return Buffer.concat([mac(key, query, payload), payload]).toString('base64url');
}

/** The position, or undefined when the cursor was not made by us for this very query. */
export function openCursor(keys: KeyRing, query: string, cursor: string): readonly string[] | undefined {
  if (cursor.length > MAX_LENGTH || !/^[\w-]+$/.test(cursor)) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  // Base64 has several spellings of the same bytes; only the canonical one is accepted.
  if (bytes.length <= MAC_BYTES || bytes.toString('base64url') !== cursor) return undefined;
  const payload = bytes.subarray(MAC_BYTES);
  const isOurs = keys.some((key) => timingSafeEqual(bytes.subarray(0, MAC_BYTES), mac(key, query, payload)));
  if (!isOurs) return undefined;
  return JSON.parse(payload.toString()) as string[];
}

function mac(key: Uint8Array, query: string, payload: Uint8Array): Buffer {
  return createHmac('sha256', key).update(query).update('\0').update(payload).digest().subarray(0, MAC_BYTES);
}
