import { SAMPLE_ORIGIN, type Sample } from './sample.ts';

const CREATED_AT = '2026-02-18T09:30:00.000Z';
const PARTNER_ID = 'prtn_01KHRZ2A5JZ0K2M4N6P8Q0R2S4';
const SESSION_ID = 'ses_01KHRZ6B5JZ0K2M4N6P8Q0R2S4';
const PASSKEY_ID = 'pky_01KHRZ7C5JZ0K2M4N6P8Q0R2S4';
const LINK = {
  url: `${SAMPLE_ORIGIN}/dashboard/join#2f6Q0R2S4M4N6P8Q0R2S4K2M4N6P8Q0R2S4a1b2c3d4`,
  expiresAt: '2026-02-21T09:30:00.000Z',
  isMailed: true,
};
const PERSON = {
  id: 'psn_01KHRZ5D5JZ0K2M4N6P8Q0R2S4',
  name: 'Sam Support',
  email: 'sam@corner-coffee.example',
  role: 'support',
  belongsTo: 'partner',
  partnerId: PARTNER_ID,
  merchantId: null,
  mode: null,
  refundLimits: [{ unit: 'iso4217/USD', value: '10000' }],
  status: 'invited',
  version: 1,
  createdAt: CREATED_AT,
  lastSeenAt: null,
};
const ACTIVE = { ...PERSON, status: 'active', lastSeenAt: '2026-02-18T10:02:00.000Z' };
const PERSON_ID = { id: PERSON.id };
const SESSION = {
  id: SESSION_ID,
  personId: PERSON.id,
  createdAt: '2026-02-18T10:00:00.000Z',
  lastUsedAt: '2026-02-18T10:02:00.000Z',
  expiresAt: '2026-02-25T10:00:00.000Z',
  address: '203.0.113.7',
  userAgent: 'Mozilla/5.0',
  isCurrent: true,
};
const PASSKEY = {
  id: PASSKEY_ID,
  label: 'Laptop',
  createdAt: '2026-02-18T10:01:00.000Z',
  lastUsedAt: '2026-02-18T10:01:00.000Z',
};
const CREDENTIAL_ID = 'Vq3xN1mB7pYc2nLw5uX9dG';
const CHALLENGE = 'AZxvA8bQ0R2S4M4N6P8Q0R2S4K2M4N6P8Q0R2S4a1b2c3d4e5f6';
const SIGNED = {
  id: CREDENTIAL_ID,
  rawId: CREDENTIAL_ID,
  type: 'public-key',
  response: {
    clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0',
    authenticatorData: 'SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ',
    signature: 'MEUCIQDx7sS0bq9e2m1k',
  },
  clientExtensionResults: {},
};
const CREATED = {
  id: CREDENTIAL_ID,
  rawId: CREDENTIAL_ID,
  type: 'public-key',
  response: {
    clientDataJSON: 'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIn0',
    attestationObject: 'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YQ',
  },
  clientExtensionResults: {},
};
const GET_OPTIONS = {
  options: { challenge: CHALLENGE, rpId: 'gateway.example', userVerification: 'required', timeout: 60_000 },
};
const removed = (id: string): Sample => ({ params: { id }, answer: { id, deleted: true } });

export const PEOPLE_SAMPLES: Readonly<Record<string, Sample>> = {
  'get /v1/people': { answer: { people: [ACTIVE], nextCursor: null } },
  'post /v1/people': {
    body: { name: PERSON.name, email: PERSON.email, role: PERSON.role, refundLimits: PERSON.refundLimits },
    answer: { person: PERSON, link: LINK },
  },
  'patch /v1/people/{id}': {
    params: PERSON_ID,
    body: { role: 'bookkeeper', version: 1 },
    answer: { person: { ...ACTIVE, role: 'bookkeeper', version: 2 } },
  },
  'delete /v1/people/{id}': removed(PERSON.id),
  'post /v1/people/{id}/link': { params: PERSON_ID, answer: { link: LINK } },
  'post /v1/sessions/challenge': { answer: GET_OPTIONS },
  'post /v1/sessions': {
    body: { link: LINK.url.split('#')[1] },
    answer: { session: SESSION, person: ACTIVE },
  },
  'get /v1/sessions': { answer: { sessions: [SESSION] } },
  'get /v1/sessions/current': {
    answer: {
      session: SESSION,
      person: ACTIVE,
      rights: ['self', 'merchants:read', 'payments:read', 'refunds:write', 'events:read'],
      partner: { id: PARTNER_ID, name: 'Corner Coffee' },
      merchant: null,
      modes: ['test', 'live'],
      passkeys: 1,
      verifiedUntil: '2026-02-18T10:06:00.000Z',
    },
  },
  'post /v1/sessions/current/challenge': { body: { purpose: 'verify' }, answer: GET_OPTIONS },
  'post /v1/sessions/current/verify': {
    body: { passkey: SIGNED },
    answer: { verifiedUntil: '2026-02-18T10:07:00.000Z' },
  },
  'delete /v1/sessions/current': { answer: { id: SESSION_ID, deleted: true } },
  'delete /v1/sessions/{id}': removed(SESSION_ID),
  'get /v1/passkeys': { answer: { passkeys: [PASSKEY] } },
  'post /v1/passkeys': { body: { label: PASSKEY.label, passkey: CREATED }, answer: { passkey: PASSKEY } },
  'delete /v1/passkeys/{id}': removed(PASSKEY_ID),
  'get /v1/audit-log': {
    answer: {
      entries: [
        {
          id: 'Zr6B0nq1lM7yX3c9w4sVtJp8hKd2uEoGi5aTzYmQ2f0',
          at: '2026-02-18T10:01:00.000Z',
          actor: `person:${PERSON.id}`,
          actorName: PERSON.name,
          action: 'passkey.added',
          subject: PASSKEY_ID,
          address: '203.0.113.7',
          detail: { label: PASSKEY.label },
        },
      ],
      nextCursor: null,
    },
  },
};
