import { createSecretKey, type KeyObject } from 'node:crypto';

const prepared = new WeakMap<Uint8Array, KeyObject>();

/**
 * The key of these bytes, in the form that Node uses. A key given as bytes is prepared again for every cipher and MAC, which takes
 * 15 µs: six times as long as the cipher or MAC of a short text. Bytes of keys never change.
 */
export function preparedKey(bytes: Uint8Array): KeyObject {
  let key = prepared.get(bytes);
  if (key === undefined) {
    key = createSecretKey(bytes);
    prepared.set(bytes, key);
  }
  return key;
}
