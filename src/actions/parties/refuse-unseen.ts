import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../errors.ts';

/**
 * Throws if a value differs from the one that the caller has seen, because two people may edit at the same time. The error contains
 * the present values.
 */
export function refuseUnseen(what: string, current: object, seen: object): void {
  const now = new Map(Object.entries(current));
  const isChanged = Object.entries(seen).some(([field, value]) => !isDeepStrictEqual(now.get(field), value));
  if (!isChanged) return;
  const message = `Somebody else has changed the ${what} meanwhile. \`details.current\` shows it as it is now.`;
  throw new ApiError('invalid_state', message, { status: 409, details: { current } });
}
