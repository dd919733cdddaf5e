import { Type } from 'typebox';
import { KEY_STATUSES, keyStatusAt } from '../../domain/api-key.ts';
import { MODES } from '../../domain/mode.ts';
import { SCOPES } from '../../domain/scope.ts';
import type { ApiKey } from '../../store/parties/api-keys.ts';
import { namedEnum, nullable, Timestamp, textOf } from '../schemas.ts';

/** A key without its secret, which the gateway does not store. */
export function viewApiKey(key: ApiKey, now: Date) {
  const { id, label, mode, hint, rotatedFrom } = key;
  const list = <T>(of: readonly T[] | null) => of && [...of];
  return {
    id,
    label,
    mode,
    hint,
    scopes: list(key.scopes),
    merchantIds: list(key.merchantIds),
    addresses: list(key.addresses),
    status: keyStatusAt(now, key),
    rotatedFrom,
    createdAt: key.createdAt.toISOString(),
    expiresAt: key.expiresAt?.toISOString() ?? null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  };
}

export const ApiKeyField = {
  label: textOf(100, 'The purpose of the key, to distinguish keys.'),
  scopes: nullable(
    Type.Array(namedEnum('Scope', SCOPES), {
      minItems: 1,
      maxItems: SCOPES.length,
      uniqueItems: true,
      description: 'What the key may do. Null: everything.',
      examples: [['payments:read', 'payments:write']],
    }),
  ),
  merchantIds: nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'The merchants that it may act for. Null: all of the partner.',
    }),
  ),
  addresses: nullable(
    Type.Array(Type.String({ minLength: 2, maxLength: 50 }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'IP addresses and networks (CIDR) that it works from. Null: any address.',
      examples: [['203.0.113.0/28']],
    }),
  ),
};

const FIELDS = {
  id: Type.String({ description: 'Begins with `key_`.', examples: ['key_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
  ...ApiKeyField,
  mode: namedEnum('Mode', MODES),
  hint: Type.String({ description: 'The last four characters of the key.' }),
  status: namedEnum('ApiKeyStatus', KEY_STATUSES),
  rotatedFrom: nullable(Type.String({ description: 'The key that it replaced.' })),
  createdAt: Timestamp,
  expiresAt: nullable({ ...Timestamp, description: 'Null: it has no end.' } as typeof Timestamp),
  lastUsedAt: nullable({ ...Timestamp, description: 'Some seconds behind. Null: never.' } as typeof Timestamp),
};

export const ApiKeyBody = Type.Object(FIELDS, { title: 'ApiKey' });

export const ApiKeyWithSecret = Type.Object(
  {
    ...FIELDS,
    secret: Type.String({ description: 'The key itself, for `Api-Key`. It is shown only here.' }),
  },
  { title: 'ApiKeyWithSecret' },
);
