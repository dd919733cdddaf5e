import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { MODES, type Mode } from './mode.ts';

/** The number of random bytes in an API key. 192 bits cannot be guessed, so a fast hash without salt is a safe way to store a key. */
export const API_KEY_RANDOM_BYTES = 24;

/** Builds an API key: `till_<mode>_`, 33 characters of secret, 6 characters of checksum. */
export function formatApiKey(mode: Mode, random: Uint8Array): string {
  if (random.length !== API_KEY_RANDOM_BYTES) throw new RangeError(`a key takes ${API_KEY_RANDOM_BYTES} random bytes`);
  const secret = base62(BigInt(`0x${Buffer.from(random).toString('hex')}`), SECRET_LENGTH);
  const body = `till_${mode}_${secret}`;
  return body + checksum(body);
}

/**
 * The mode in an API key. Undefined if the text cannot be a key of this gateway. A typo or the key of another service then costs
 * no database query.
 */
export function parseApiKey(text: string): { mode: Mode } | undefined {
  const mode = FORM.exec(text)?.[1];
  if (mode === undefined) return undefined;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return checksum(body) === text.slice(-CHECKSUM_LENGTH) ? { mode: mode as Mode } : undefined;
}

export function hashApiKey(text: string): string {
  return hash('sha256', text, 'hex');
}

export const KEY_STATUSES = ['active', 'expired', 'revoked'] as const;
export type KeyStatus = (typeof KEY_STATUSES)[number];

export function keyStatusAt(
  now: Date,
  { expiresAt, revokedAt }: { readonly expiresAt: Date | null; readonly revokedAt: Date | null },
): KeyStatus {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}

export function redactApiKeys(text: string): string {
  return text.replace(KEYS, (key) => `${key.slice(0, key.lastIndexOf('_') + 1)}***`);
}

const SECRET_LENGTH = 33;
const CHECKSUM_LENGTH = 6;
const TAIL_LENGTH = SECRET_LENGTH + CHECKSUM_LENGTH;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const FORM = new RegExp(`^till_(${MODES.join('|')})_[0-9A-Za-z]{${TAIL_LENGTH}}$`);

/**
 * The source of a regular expression that finds API keys in text. It also matches keys that were cut short or mistyped, because
 * such a key still shows most of its secret. With at least twenty characters, it does not match names such as `till_test_orders`;
 * a shorter part of a secret leaves more than 80 bits to guess. The upper bound keeps a match from consuming the start of the
 * next key.
 */
export const API_KEY_PATTERN = `till_(?:${MODES.join('|')})_[0-9A-Za-z]{20,${TAIL_LENGTH}}`;

const KEYS = new RegExp(API_KEY_PATTERN, 'g');

/** The checksum of a key. CRC-32 detects every error within 32 consecutive bits, such as a wrong character or two swapped neighbours. */
const checksum = (body: string): string => base62(BigInt(crc32(body)), CHECKSUM_LENGTH);

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text;
}
