import { createSecretKey, type KeyObject } from 'node:crypto';

const prepared = new WeakMap<Uint8Array, KeyObject>();

/**
 * The key with these bytes as a `KeyObject`, made once for each key. If Node is given plain bytes, it prepares them for every
 * cipher and MAC. That takes 15 µs: six times as long as the cipher or MAC of a short text. Bytes of keys never change.
 */
export function preparedKey(bytes: Uint8Array): KeyObject {
  let key = prepared.get(bytes);
  if (key === undefined) {
    key = createSecretKey(bytes);
    prepared.set(bytes, key);
  }
  return key;
}
