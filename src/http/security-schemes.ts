import type { Right } from '../domain/role.ts';
import { SCOPES } from '../domain/scope.ts';

/** The acts that each scope of a key, and each right of a person, allows. Every operation names the scope or right that it needs. */
const RIGHTS: Readonly<Record<Right, string>> = {
  'merchants:read': 'Read merchants, their settlement destinations, and the assets.',
  'merchants:write': 'Create, change and delete merchants, and change their branding.',
  'destinations:write': 'Register, change and remove settlement destinations, and send refunds to other accounts.',
  'payments:read': 'Read payments, refunds, late money, payouts, receipts, statistics, exports and brandings.',
  'payments:write': 'Create and cancel payments.',
  'refunds:write': 'Refund payments, and return late money.',
  'links:read': 'Read payment links.',
  'links:write': 'Create and change payment links.',
  'events:read': 'Read events.',
  webhooks: 'Manage webhook endpoints, and read and repeat their deliveries.',
  gateway: 'Act for payers at the gateway routes.',
  sandbox: 'Read and move the clock of a sandbox.',
  self: 'The session and the passkeys of the person.',
  'people:read': 'Read people.',
  'people:write': 'Invite, change and remove people.',
  'audit:read': 'Read the audit log.',
  'keys:read': 'Read API keys, and the log of their requests.',
  'keys:write': 'Issue, rotate and revoke API keys.',
  'operator:read': 'Read the state of the gateway and its partners.',
};

const KEY_SCOPES = Object.fromEntries(SCOPES.map((scope) => [scope, RIGHTS[scope]]));

/** The credentials that operations take. OpenAPI has no place for the scopes of keys: `x-scopes` declares them. */
export const SECURITY_SCHEMES = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Api-Key',
    description: `A partner key, \`till_test_…\` or \`till_live_…\`. A key may be limited to scopes: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.`,
    'x-scopes': KEY_SCOPES,
  },
  legacyApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'The same partner key, under the name old clients of the deprecated list send.',
    'x-scopes': KEY_SCOPES,
  },
  appId: {
    type: 'apiKey',
    in: 'header',
    name: 'App-Id',
    description: 'A public wallet app id; needs `Client-Id` beside it.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-till_session',
    description:
      'The cookie of a person who is signed in, for pages of this origin. The role of the person gives the scopes. The request needs `Sec-Fetch-Site: same-origin`, which browsers send, and the header `Session-Mode`. People of the operator name a partner in `Partner-Id`. Over plain HTTP, on localhost, the name is `till_session`.',
    'x-scopes': RIGHTS,
  },
  visitor: {
    type: 'apiKey',
    in: 'header',
    name: 'Session-Mode',
    description: '`test` or `live`, from a page of this origin. Nobody has to be signed in.',
  },
} as const;
