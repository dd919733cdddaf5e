import type { Mode } from './mode.ts';
import { SCOPES, type Scope } from './scope.ts';

export const ROLES = ['owner', 'developer', 'support', 'bookkeeper', 'cashier'] as const;
export type Role = (typeof ROLES)[number];

export const BELONGINGS = ['operator', 'partner', 'merchant'] as const;

/** The organisation that a person belongs to. It decides whose objects the person sees. */
export type Belonging =
  | { readonly belongsTo: 'operator'; readonly partnerId: null; readonly merchantId: null; readonly mode: null }
  | { readonly belongsTo: 'partner'; readonly partnerId: string; readonly merchantId: null; readonly mode: null }
  | { readonly belongsTo: 'merchant'; readonly partnerId: string; readonly merchantId: string; readonly mode: Mode };

/**
 * Rights that no API key has: a stolen key must create neither people nor keys. `self` is the person's own session and
 * passkeys, which every role has.
 */
const PERSON_RIGHTS = ['self', 'people:read', 'people:write', 'audit:read', 'keys:read', 'keys:write'] as const;

/** The right to read the state of the gateway itself. Only people of the operator have it. */
const OPERATOR_RIGHT = 'operator:read';

/** The right that a route requires: a scope of a key, or a right of a person. */
export type Right = Scope | (typeof PERSON_RIGHTS)[number] | typeof OPERATOR_RIGHT;

const ROLE_RIGHTS: Readonly<Record<Role, readonly Right[]>> = {
  owner: [...SCOPES, ...PERSON_RIGHTS],
  developer: [
    'self',
    'merchants:read',
    'payments:read',
    'payments:write',
    'links:read',
    'links:write',
    'events:read',
    'webhooks',
    'sandbox',
    'people:read',
    'keys:read',
    'keys:write',
  ],
  support: ['self', 'merchants:read', 'payments:read', 'refunds:write', 'links:read', 'events:read'],
  bookkeeper: ['self', 'merchants:read', 'payments:read', 'links:read', 'events:read'],
  cashier: ['self', 'payments:read', 'payments:write'],
};

/**
 * The rights that people of the operator can have. They read the objects of partners, and manage their own people. They act on
 * money, and on the people of partners, only by commands: a sign-in link for somebody else would give them the rights of that
 * person.
 */
const OPERATORS: readonly Right[] = [
  'self',
  'merchants:read',
  'payments:read',
  'links:read',
  'events:read',
  'people:read',
  'people:write',
  'audit:read',
  'keys:read',
];

/** The rights of a person. `isAbroad` is true if a person of the operator acts within a partner. */
export function rightsOf(
  { role, belongsTo }: Pick<Belonging, 'belongsTo'> & { readonly role: Role },
  { isAbroad = false }: { readonly isAbroad?: boolean } = {},
): readonly Right[] {
  const rights = ROLE_RIGHTS[role];
  if (belongsTo !== 'operator') return rights;
  const own = rights.filter((right) => OPERATORS.includes(right) && !(isAbroad && right === 'people:write'));
  return role === 'cashier' ? own : [...own, OPERATOR_RIGHT];
}

/** A limit on refunds, or an amount to compare with it, in the minor units of a currency or an asset. */
export interface RefundLimit {
  readonly unit: string;
  readonly value: string;
}

/** The largest part of one payment that the person may refund. Undefined if the role has no limit. A unit without a limit allows nothing. */
export function refundLimitOf(
  { role, refundLimits }: { readonly role: Role; readonly refundLimits: readonly RefundLimit[] | null },
  unit: string,
): bigint | undefined {
  if (role !== 'support') return undefined;
  return BigInt(refundLimits?.find((limit) => limit.unit === unit)?.value ?? 0);
}

/** True if a limit has the unit of the amount and is not below the amount. A unit without a limit allows nothing. */
export function isWithinLimits(limits: readonly RefundLimit[], amount: RefundLimit): boolean {
  return limits.some(({ unit, value }) => unit === amount.unit && BigInt(amount.value) <= BigInt(value));
}
