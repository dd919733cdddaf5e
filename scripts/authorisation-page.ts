import { ROLES, rightsOf } from '../src/domain/role.ts';

/** A route as `openapi.json` describes it, with everything that decides who may call it. */
export interface GuardedRoute {
  readonly method: string;
  /** With the varying parts in braces. */
  readonly path: string;
  /**
   * `partner`: a key or a person. `legacy`: a key, under its older name too. `gateway`: a key or an App-Id. `person`: a person.
   * `visitor`: a page of ours. `public`: anybody.
   */
  readonly scheme: 'partner' | 'legacy' | 'gateway' | 'person' | 'visitor' | 'public';
  readonly scope: string | undefined;
  readonly merchant: 'path' | 'header' | undefined;
  /** A person must have shown a passkey within the last minutes. */
  readonly needsPasskey: boolean;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedRoute>>>>;
}

interface DescribedRoute {
  readonly 'x-needs-passkey'?: boolean;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

/** The callers with keys or without credentials, and what each of them is. */
const KEY_CALLERS = {
  'own key': 'a key of the owner without limits',
  'no key': 'no credentials',
  'other partner': 'a key of another partner, naming the merchant of the owner',
  'other partner, own merchant':
    'a key of another partner, naming its own merchant and the payment, settlement, event or webhook endpoint of the owner',
  'other mode': 'a key of the owner for live data; the objects are test data',
  revoked: 'a revoked key of the owner',
  expired: 'an expired key of the owner',
  'scope missing': 'a key of the owner with every scope but that of the route',
  'other merchant': 'a key of the owner for another of its merchants',
  'address not allowed': 'a key of the owner that is limited to another address',
  'App-Id': 'a wallet app of the mode, without a key',
  frozen: 'a key of the owner without limits, while the merchant is suspended or frozen',
} as const;

/** The callers with sessions. The people of the first five belong to the owner of the objects. */
export const PEOPLE_CALLERS = {
  owner: 'a person with the role owner',
  developer: 'a person with the role developer',
  support: 'a person with the role support, and limits above the payment',
  bookkeeper: 'a person with the role bookkeeper',
  cashier: 'a person with the role cashier',
  'other partner’s owner': 'an owner of another partner, naming the merchant of the owner',
  'other merchant’s owner': 'an owner who belongs to another merchant of the partner',
  operator: 'an owner who belongs to the operator, naming the partner',
  'stale owner': 'an owner who has shown no passkey for more than 5 minutes',
  'other site': 'the session of an owner, in a request that another site makes the browser send',
  'ended session': 'an owner who has signed out',
} as const;

export const CALLERS = { ...KEY_CALLERS, ...PEOPLE_CALLERS };

export type Caller = keyof typeof CALLERS;
type PeopleCaller = keyof typeof PEOPLE_CALLERS;

/** `yes`: admitted. `own`: admitted, and sees or makes only its own objects. Else the status and code of the refusal. */
export type Verdict = 'yes' | 'own' | `${number} ${string}`;

/** The routes that a suspension or a freeze stops. The others stay open, so that everything can still be read. */
const STOPPED_WHILE_FROZEN: Readonly<Record<string, Verdict>> = {
  'POST /v1/payments': '403 forbidden',
  'POST /v1/merchant/payment': '403 forbidden',
  'POST /v1/merchants/{merchantId}/settlements/crypto': '403 forbidden',
  'PUT /v1/merchants/{merchantId}/settlements/crypto/{id}': '403 forbidden',
  'DELETE /v1/merchants/{merchantId}/settlements/crypto/{id}': '403 forbidden',
  'POST /v1/refunds': '403 forbidden',
  'POST /v1/late-money/{id}/return': '403 forbidden',
};

/** Changes of the partner itself, which a caller for certain merchants may not make. */
const OF_PARTNER: readonly string[] = ['POST /v1/merchants', 'PUT /v1/accepted-assets'];

/** Changes that ask for no passkey, with the reason. Every other change of a person asks for it. */
export const WITHOUT_PASSKEY: Readonly<Record<string, string>> = {
  'POST /v1/merchants': 'a new merchant has no money and no destination',
  'PATCH /v1/merchants/{merchantId}':
    'changes name, contact address and logo; a change of the accepted assets asks for it',
  'PATCH /v1/merchants/{merchantId}/branding': 'changes the look of pages alone',
  'POST /v1/payments': 'asks a payer for money, which goes to the destinations that are there',
  'POST /v1/merchant/payment': 'the same',
  'POST /v1/payments/{id}/cancel': 'only before anybody has paid',
  'POST /v1/refunds': 'up to `REFUND_WITHOUT_PASSKEY` and to the account that paid; every other refund asks for it',
  'POST /v1/payment-links': 'asks payers for money, which goes to the destinations that are there',
  'PATCH /v1/payment-links/{id}': 'the same',
  'POST /v1/webhook-endpoints/{id}/test': 'sends to an endpoint that is registered',
  'POST /v1/webhook-endpoints/{id}/deliveries/{deliveryId}/redeliver': 'the same',
  'POST /v1/webhook-endpoints/{id}/redeliver': 'the same',
  'DELETE /v1/sessions/current': 'takes rights away',
  'POST /v1/sessions/current/challenge': 'begins to show the passkey',
  'POST /v1/sessions/current/verify': 'shows the passkey',
  'DELETE /v1/sessions/{id}': 'ends a session of the same person; one of somebody else asks for it',
  'POST /v1/passkeys':
    'the first passkey needs a sign-in link used within the last 5 minutes; every other asks for a passkey',
  'POST /v1/test/clock': 'exists in a sandbox alone',
};

const NO_KEY = {
  partner: '401 missing_api_key',
  legacy: '401 missing_merchant_api_key',
  gateway: '401 missing_auth_headers',
  person: '401 unauthorized',
  visitor: '403 forbidden',
} as const;

/** The answer that a route owes a caller. */
export function verdictOf(route: GuardedRoute, caller: Caller): Verdict {
  const { method, path, scheme, merchant } = route;
  if (scheme === 'public') return 'yes';
  if (isPeopleCaller(caller)) return personVerdictOf(route, caller);
  if (scheme === 'person' || scheme === 'visitor') return NO_KEY[scheme];
  const isGateway = scheme === 'gateway';
  // A sandbox has one clock, for all its partners.
  const isShared = path.startsWith('/v1/test/');
  // The unguessable id of a payment is the right to pay it: gateway routes take any caller of its mode.
  const ownOr = (refusal: Verdict) => {
    if (isGateway || isShared) return 'yes';
    if (merchant !== undefined) return refusal;
    return path.includes('/{id}') ? '404 invalid_params' : 'own';
  };
  const verdicts: Readonly<Record<Exclude<Caller, PeopleCaller>, Verdict>> = {
    'own key': 'yes',
    'no key': NO_KEY[scheme],
    'other partner': ownOr('404 merchant_not_found'),
    'other partner, own merchant': ownOr(foreignObject(route)),
    'other mode': isShared
      ? '403 not_sandbox_api_key'
      : isGateway
        ? '404 payment_not_found'
        : ownOr('404 merchant_not_found'),
    revoked: '401 invalid_api_key',
    expired: '401 invalid_api_key',
    'scope missing': '403 forbidden',
    'other merchant': OF_PARTNER.includes(`${method} ${path}`) ? '403 forbidden' : ownOr('403 forbidden'),
    'address not allowed': '403 forbidden',
    'App-Id': isGateway ? 'yes' : NO_KEY[scheme],
    frozen: STOPPED_WHILE_FROZEN[`${method} ${path}`] ?? 'yes',
  };
  return verdicts[caller];
}

function isPeopleCaller(caller: Caller): caller is PeopleCaller {
  return Object.hasOwn(PEOPLE_CALLERS, caller);
}

function personVerdictOf(route: GuardedRoute, caller: PeopleCaller): Verdict {
  const { path, scheme, scope = '' } = route;
  // Cookies are ignored where pages of all origins may call, and on the deprecated list.
  if (scheme === 'gateway' || scheme === 'legacy') return NO_KEY[scheme];
  if (caller === 'other site') return '403 forbidden';
  if (scheme === 'visitor') return 'yes';
  if (caller === 'ended session') return '401 unauthorized';
  const role = ROLES.find((each) => each === caller) ?? 'owner';
  const isAbroad = caller === 'operator';
  const belongsTo = isAbroad ? 'operator' : 'partner';
  if (!(rightsOf({ role, belongsTo }, { isAbroad }) as readonly string[]).includes(scope)) return '403 forbidden';
  if (caller === 'stale owner' && (route.needsPasskey || path === '/v1/sessions/{id}')) return '403 forbidden';
  const isElsewhere = caller.startsWith('other');
  if (scheme === 'partner') {
    if (!isElsewhere) return 'yes';
    return verdictOf(route, caller === 'other partner’s owner' ? 'other partner' : 'other merchant');
  }
  // The passkey is that of somebody else. Owners end sessions of others, and nobody else does.
  if (path === '/v1/passkeys/{id}') return '404 invalid_params';
  const mayManage = role === 'owner' && !isElsewhere && !isAbroad;
  if (path === '/v1/sessions/{id}') return mayManage ? 'yes' : '404 invalid_params';
  if (path.startsWith('/v1/api-keys/')) return isElsewhere ? '404 api_key_not_found' : 'yes';
  if (path.includes('{id}')) return isElsewhere ? '404 invalid_params' : 'yes';
  return isElsewhere && scope !== 'self' ? 'own' : 'yes';
}

/** The refusal of an object that is not the named merchant's. Routes about the merchant alone name none. */
function foreignObject({ method, path, merchant }: GuardedRoute): Verdict {
  const isOurs = ['/v1/refunds/{id}', '/v1/late-money/', '/v1/payment-links'].some((own) => path.startsWith(own));
  if (merchant === 'path' || isOurs) return path.includes('/{id}') ? '404 invalid_params' : 'own';
  const namesPayment = path.includes('{id}') || (method === 'POST' && path === '/v1/refunds');
  return namesPayment ? '404 payment_not_found' : 'own';
}

export function guardedRoutes({ paths }: ApiDocument): GuardedRoute[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security = [], parameters = [], ...rest }]) => {
      const schemes = security.flatMap((choice) => Object.keys(choice));
      const scheme = schemes.includes('appId')
        ? 'gateway'
        : schemes.includes('legacyApiKey')
          ? 'legacy'
          : schemes.includes('apiKey')
            ? 'partner'
            : schemes.includes('session')
              ? 'person'
              : schemes.includes('visitor')
                ? 'visitor'
                : 'public';
      const isNamed = parameters.some(({ name }) => name === 'Merchant-Id');
      return {
        method: method.toUpperCase(),
        path,
        scheme,
        scope: security.flatMap((choice) => Object.values(choice).flat())[0],
        merchant: isNamed ? 'header' : path.includes('{merchantId}') ? 'path' : undefined,
        needsPasskey: rest['x-needs-passkey'] === true,
      };
    }),
  );
}

/** `docs/authorisation.md`: what every route answers to every caller. */
export function authorisationPage(document: ApiDocument): string {
  const routes = guardedRoutes(document);
  const rowsOf = (callers: object) => Object.entries(callers).map(([name, meaning]) => `| ${name} | ${meaning} |`);
  return `# The authorisation matrix

The answer of every API route to every kind of caller. \`test/attacks/authorisation-matrix.test.ts\` sends each of these
requests to the gateway and compares the answer with this table.

\`yes\`: the caller is admitted; the rest of the request decides. \`own\`: the caller is admitted, and sees or makes only its own
objects. Everything else is the status and the code of the refusal.

## Keys

| caller | is |
|---|---|
${rowsOf(KEY_CALLERS).join('\n')}

${matrixTable(routes, KEY_CALLERS).join('\n')}

## People

| caller | is |
|---|---|
${rowsOf(PEOPLE_CALLERS).join('\n')}

Every person here but the stale owner has just shown a passkey.

${matrixTable(routes, PEOPLE_CALLERS).join('\n')}

## Changes without a passkey

A change of a person that moves money, access or events asks for the passkey again: 403 \`forbidden\`, with \`details.needs\`
\`passkey\`. These changes do not ask for it:

| route | reason |
|---|---|
${Object.entries(WITHOUT_PASSKEY)
  .map(([route, reason]) => `| \`${route}\` | ${reason} |`)
  .join('\n')}

Pages and files (the checkout, \`/docs\`, \`/openapi.json\`, icons) are public, too.

This page is generated from the routes by \`npm run generate\`.
`;
}

export function matrixTable(routes: readonly GuardedRoute[], of: object = CALLERS): string[] {
  const callers = Object.keys(of) as Caller[];
  const rows = routes.map((route) => [
    `\`${route.method} ${route.path}\``,
    route.scope === undefined ? 'public' : `\`${route.scope}\``,
    ...callers.map((caller) => verdictOf(route, caller)),
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(['route', 'scope', ...callers]), line(Array(callers.length + 2).fill('---')), ...rows.map(line)];
}
