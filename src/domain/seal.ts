import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { idBytes, subjectFromBytes } from './ids.ts';
import type { KeyRing } from './key-ring.ts';

/**
 * The seal of an item: the 32 bytes that the chain shows in place of an id. The first half is the id, encrypted as one block.
 * The second half is a MAC over the first half and all terms of the item. So only the gateway can read the id from an event,
 * and it can check whether it wrote the item: a stranger can copy a seal, but not use it with other terms.
 *
 * Both halves use the same generation of keys. A key has 32 bytes: 16 encrypt, 16 authenticate.
 */

const HALF_BYTES = 16;
const HALF_DIGITS = 2 * HALF_BYTES;
const CIPHER = 'aes-128-ecb';

/**
 * The encrypted ids, in hex. Each is stored with its payment, so that all items of the payment show the same encrypted id. One
 * cipher encrypts all ids, block by block, because making a cipher takes longer than encrypting an id.
 */
export function encryptIds([key]: KeyRing, ids: readonly string[]): string[] {
  const blocks = new Uint8Array(HALF_BYTES * ids.length);
  for (const [index, id] of ids.entries()) blocks.set(idBytes(id), HALF_BYTES * index);
  const encrypted = cipherOf(key).update(blocks).toString('hex');
  return ids.map((_, index) => encrypted.slice(HALF_DIGITS * index, HALF_DIGITS * (index + 1)));
}

/** The encrypted id under each generation of keys, in hex, the newest first. */
export function sealedIds(keys: KeyRing, id: string): string[] {
  return keys.map((key) => encrypt(key, id));
}

export interface Sealing {
  /** The id of a payment, payout, refund or return. */
  readonly id: string;
  /** The encrypted id that is stored for the subject, if any. It determines the generation of keys. */
  readonly stored?: string | null | undefined;
  /** The terms of the item, in the form of `PayerSide.sealedTerms`. */
  readonly terms: string;
}

/**
 * The seal of an item, in hex, under the key that encrypted the stored id. If that key is not in the key ring any more, the
 * newest key is used. The seal then differs, which does no harm: live events are matched with items by commitment, and not by
 * seal.
 */
export function sealOf(keys: KeyRing, { id, stored, terms }: Sealing): string {
  const [newest] = keys;
  const key = keys.find((each) => encrypt(each, id) === stored) ?? newest;
  const half = encrypt(key, id);
  return half + macOf(key, half, terms).toString('hex');
}

/** The id in a seal. Undefined if the gateway did not make the seal for these terms. */
export function openSeal(keys: KeyRing, seal: string, terms: string): string | undefined {
  if (!/^[0-9a-f]{64}$/.test(seal)) return undefined;
  const half = seal.slice(0, HALF_DIGITS);
  const mac = Buffer.from(seal.slice(HALF_DIGITS), 'hex');
  const key = keys.find((each) => timingSafeEqual(macOf(each, half, terms), mac));
  return key && subjectFromBytes(decrypt(key, half));
}

/** The first half of a seal, decrypted with each key. The ids are only hints: `openSeal` alone proves an id. */
export function possibleIds(keys: KeyRing, half: string): string[] {
  return keys.map((key) => subjectFromBytes(decrypt(key, half)));
}

interface Halves {
  readonly encryption: KeyObject;
  readonly authentication: KeyObject;
}

/** The prepared halves of each key. Preparing a key takes longer than using it: see `preparedKey`. */
const halves = new WeakMap<Uint8Array, Halves>();

function halvesOf(key: Uint8Array): Halves {
  let found = halves.get(key);
  if (found === undefined) {
    const [encryption, authentication] = [key.subarray(0, HALF_BYTES), key.subarray(HALF_BYTES)];
    found = { encryption: createSecretKey(encryption), authentication: createSecretKey(authentication) };
    halves.set(key, found);
  }
  return found;
}

function encrypt(key: Uint8Array, id: string): string {
  return cipherOf(key).update(idBytes(id)).toString('hex');
}

/** The cipher for ids. It encrypts each block alone (ECB), which is safe here: an id is one block, and no id repeats. */
function cipherOf(key: Uint8Array) {
  return createCipheriv(CIPHER, halvesOf(key).encryption, null).setAutoPadding(false);
}

function decrypt(key: Uint8Array, half: string): Uint8Array {
  const decipher = createDecipheriv(CIPHER, halvesOf(key).encryption, null).setAutoPadding(false);
  return decipher.update(Buffer.from(half, 'hex'));
}

function macOf(key: Uint8Array, half: string, terms: string): Buffer {
  return createHmac('sha256', halvesOf(key).authentication).update(half).update(terms).digest().subarray(0, HALF_BYTES);
}
