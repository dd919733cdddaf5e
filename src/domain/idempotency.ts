import { hash } from 'node:crypto';

const MAX_LENGTH = 255;

/**
 * The key of an `Idempotency-Key` header. The draft standard quotes the key, most clients do not. One pair of quotes is
 * removed, so that both forms give the same key.
 */
export function parseIdempotencyKey(header: string): { ok: true; key: string } | { ok: false; problem: string } {
  const key = /^".*"$/.test(header) && header.length >= 2 ? header.slice(1, -1) : header;
  if (key === '') return { ok: false, problem: 'must not be empty' };
  if (key.length > MAX_LENGTH) return { ok: false, problem: `must have at most ${MAX_LENGTH} characters` };
  if (!/^[\x20-\x7e]+$/.test(key)) return { ok: false, problem: 'must consist of printable ASCII characters' };
  return { ok: true, key };
}

/** The hash of a request. Requests with the same meaning have the same hash: the order of their members does not matter. */
export function requestHash(meaning: unknown): string {
  return hash('sha256', canonical(meaning), 'base64url');
}

/** A hash of 128 bits, which fits into a `uuid`, for tables with many hashes. 128 bits are enough to distinguish requests. */
export function shortHash(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
