import { ApiError } from '../../errors.ts';
import type { KeyHolder } from '../../store/parties/api-keys.ts';

function isOver({ revokedAt, expiresAt }: KeyHolder, nowMs: number): boolean {
  return revokedAt !== null || (expiresAt !== null && expiresAt.getTime() <= nowMs);
}

export function isInForce(key: KeyHolder, nowMs: number): boolean {
  return !isOver(key, nowMs) && key.partnerDisabledAt === null;
}

export function checkKey(key: KeyHolder, nowMs: number): void {
  const { partnerDisabledAt } = key;
  if (isOver(key, nowMs)) throw unknownKey();
  if (partnerDisabledAt !== null) throw new ApiError('unauthorized', 'The partner of this Api-Key is disabled.');
}

export function unknownKey(): ApiError {
  return new ApiError('invalid_api_key', 'The Api-Key is unknown, revoked or expired.');
}
