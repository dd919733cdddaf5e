import { Type } from 'typebox';
import { MODES } from '../../domain/mode.ts';
import { BELONGINGS, ROLES } from '../../domain/role.ts';
import type { Passkey } from '../../store/people/passkeys.ts';
import type { ListedPerson, Person } from '../../store/people/people.ts';
import type { Session } from '../../store/people/sessions.ts';
import { EmailAddress, enumOf, namedEnum, nullable, Timestamp, textOf } from '../schemas.ts';

export function viewPerson(person: Person & Partial<Pick<ListedPerson, 'lastSeenAt' | 'passkeys'>>) {
  const { id, name, email, role, belongsTo, partnerId, merchantId, mode, version, joinedAt, lastSeenAt } = person;
  return {
    id,
    name,
    email,
    role,
    belongsTo,
    partnerId,
    merchantId,
    mode,
    refundLimits: person.refundLimits && [...person.refundLimits],
    status: joinedAt === null ? ('invited' as const) : ('active' as const),
    version,
    createdAt: person.createdAt.toISOString(),
    lastSeenAt: lastSeenAt?.toISOString() ?? null,
  };
}

export function viewSession(session: Session, currentId: string) {
  const { id, personId, createdAt, lastUsedAt, expiresAt, address, userAgent } = session;
  return {
    id,
    personId,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    address,
    userAgent,
    isCurrent: id === currentId,
  };
}

export function viewPasskey({ id, label, createdAt, lastUsedAt }: Passkey) {
  return { id, label, createdAt: createdAt.toISOString(), lastUsedAt: lastUsedAt?.toISOString() ?? null };
}

export const PersonField = {
  name: textOf(200, 'The name of the person.'),
  email: {
    ...EmailAddress,
    description: 'Names the person. One-time links are mailed to it if the gateway has a server for mail.',
  } as typeof EmailAddress,
  role: namedEnum(
    'Role',
    ROLES,
    '`owner`: everything. `developer`: payments and webhooks. `support`: reads, and refunds within limits. `bookkeeper`: reads. `cashier`: creates payments and sees them.',
  ),
  refundLimits: nullable(
    Type.Array(
      Type.Object(
        {
          unit: Type.String({ minLength: 1, maxLength: 200, examples: ['iso4217/USD'] }),
          value: Type.String({
            pattern: '^(0|[1-9][0-9]{0,77})$',
            'x-rule': 'must be a whole number of minor units',
            examples: ['10000'],
          }),
        },
        { title: 'RefundLimit', additionalProperties: false },
      ),
      {
        maxItems: 50,
        description:
          'The largest payment of each currency that a person of support may refund. A currency that is missing cannot be refunded. Null: nothing for support; other roles have no limit.',
      },
    ),
  ),
};

export const PersonBody = Type.Object(
  {
    id: Type.String({ description: 'Begins with `psn_`.', examples: ['psn_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
    name: Type.String(),
    email: Type.String(),
    role: namedEnum('Role', ROLES),
    belongsTo: enumOf(BELONGINGS, 'Whose objects the person sees.'),
    partnerId: nullable(Type.String()),
    merchantId: nullable(Type.String()),
    mode: nullable(namedEnum('Mode', MODES, 'The mode of the merchant. Null: both modes.')),
    refundLimits: PersonField.refundLimits,
    status: enumOf(['invited', 'active'], '`invited`: the person has never signed in.'),
    version: Type.Integer({ description: 'Counts changes.' }),
    createdAt: Timestamp,
    lastSeenAt: nullable(Timestamp),
  },
  { title: 'Person' },
);

export const LinkBody = Type.Object(
  {
    url: nullable(
      Type.String({
        description:
          'Signs the person in once. It is shown only here. Null: the person has a passkey, and the link is mailed.',
      }),
    ),
    expiresAt: Timestamp,
    isMailed: Type.Boolean({ description: 'True if the gateway mails the link to the person.' }),
  },
  { title: 'PersonLink', description: 'A one-time link.' },
);

export const SessionBody = Type.Object(
  {
    id: Type.String({ description: 'Begins with `ses_`.', examples: ['ses_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
    personId: Type.String(),
    createdAt: Timestamp,
    lastUsedAt: Timestamp,
    expiresAt: Timestamp,
    address: Type.String({ description: 'The address that the person signed in from.' }),
    userAgent: Type.String({ description: 'The browser, as it names itself.' }),
    isCurrent: Type.Boolean({ description: 'True for the session of this request.' }),
  },
  { title: 'Session' },
);

export const PasskeyBody = Type.Object(
  {
    id: Type.String({ description: 'Begins with `pky_`.', examples: ['pky_01KHRZ5Q8MB2N4P6R8T0V2X4Z6'] }),
    label: Type.String(),
    createdAt: Timestamp,
    lastUsedAt: nullable(Timestamp),
  },
  { title: 'Passkey' },
);
