import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import type { KeyRing } from '../domain/key-ring.ts';

/** Keys derived from the operator's master secret, which is never in the database. Each purpose has its own key. */
export interface Secrets {
  /** The ids of the master secrets, the newest first. An id reveals nothing of its secret. */
  readonly ids: readonly string[];
  /** The key of a purpose: 32 bytes, the same on every node with the same master secret. */
  derive(purpose: string): Uint8Array;
  /** The key of a purpose under each master secret, the newest first. There are two while secrets are rotated. */
  deriveEach(purpose: string): KeyRing;
  /** Encrypts and authenticates a random secret, so that it can be stored in the database. */
  wrap(purpose: string, bytes: Uint8Array): string;
  /** The secret that `wrap` encrypted. Throws a `WrongSecretError` if it cannot be decrypted. */
  unwrap(purpose: string, text: string): Uint8Array;
}

/** The wrapped text was changed, or was wrapped with another master secret or for another purpose. */
export class WrongSecretError extends Error {
  constructor() {
    super('a stored secret was not wrapped with the master secret at hand');
    this.name = 'WrongSecretError';
  }
}

/** The shortest length of a master secret. A shorter secret could be guessed. */
export const LEAST_SECRET_BYTES = 32;

const KEY_BYTES = 32;
const KEY_ID_BYTES = 6;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

/** The first master secret is the newest: it derives and wraps everything new. The older ones only decrypt and verify. */
export function createSecrets(material: readonly Uint8Array[]): Secrets {
  const [newest, ...older] = material;
  if (newest === undefined || material.some(({ length }) => length < LEAST_SECRET_BYTES)) {
    throw new Error(`A master secret needs at least ${LEAST_SECRET_BYTES} bytes.`);
  }
  const keyId = keyIdOf(newest);

  return {
    ids: material.map(keyIdOf),
    derive: (purpose) => keyOf(newest, purpose),
    deriveEach: (purpose) => [keyOf(newest, purpose), ...older.map((master) => keyOf(master, purpose))],
    wrap(purpose, bytes) {
      // The nonce is derived from the content. So it repeats only for equal content, and needs no randomness.
      const nonce = createHmac('sha256', keyOf(newest, `nonce of ${purpose}`))
        .update(bytes)
        .digest();
      const cipher = createCipheriv(CIPHER, keyOf(newest, `wrap ${purpose}`), nonce.subarray(0, NONCE_BYTES));
      const sealed = [nonce.subarray(0, NONCE_BYTES), cipher.update(bytes), cipher.final(), cipher.getAuthTag()];
      return `${keyId}.${Buffer.concat(sealed).toString('base64url')}`;
    },
    unwrap(purpose, text) {
      const [id, body = ''] = text.split('.');
      const master = material.find((each) => keyIdOf(each) === id);
      const bytes = Buffer.from(body, 'base64url');
      const isOurs = bytes.length >= NONCE_BYTES + TAG_BYTES && `${id}.${bytes.toString('base64url')}` === text;
      if (master === undefined || !isOurs) throw new WrongSecretError();
      const decipher = createDecipheriv(CIPHER, keyOf(master, `wrap ${purpose}`), bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      } catch {
        throw new WrongSecretError();
      }
    },
  };
}

/** The id of the master secret that wrapped the text. */
export function wrappedBy(text: string): string {
  return text.split('.', 1)[0] ?? '';
}

/** An id of the master secret that reveals nothing of it. */
function keyIdOf(master: Uint8Array): string {
  return Buffer.from(keyOf(master, 'key id').subarray(0, KEY_ID_BYTES)).toString('base64url');
}

function keyOf(master: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', master, 'till', purpose, KEY_BYTES));
}
