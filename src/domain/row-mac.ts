import { createHmac, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from './key-ring.ts';
import { preparedKey } from './prepared-key.ts';

/** The fields of a row that decide about money, as text. */
export type MacFields = Readonly<Record<string, string | null>>;

/**
 * The MAC over fields of a row. It proves that the gateway wrote the fields, because an intruder with access to the database
 * alone lacks the key.
 */
export function macOfRow([key]: KeyRing, table: string, fields: MacFields): string {
  return mac(key, table, fields).toString('base64url');
}

/** True if the gateway wrote exactly these fields, under any key of the ring. */
export function isRowMac(keys: KeyRing, table: string, fields: MacFields, text: string | null): boolean {
  const claimed = Buffer.from(text ?? '', 'base64url');
  return keys.some((key) => {
    const right = mac(key, table, fields);
    return claimed.length === right.length && timingSafeEqual(claimed, right);
  });
}

/** The MAC over a table's name and fields. They have one spelling: JSON, with the fields in alphabetical order. */
function mac(key: Uint8Array, table: string, fields: MacFields): Buffer {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHmac('sha256', preparedKey(key))
    .update(JSON.stringify([table, sorted]))
    .digest();
}
