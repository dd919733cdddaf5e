/** A route as `openapi.json` describes it, with everything that decides who may call it. */
export interface GuardedRoute {
  readonly method: string;
  /** With the varying parts in braces. */
  readonly path: string;
  /** `partner`: a key. `legacy`: a key, under its older name too. `gateway`: a key or an App-Id. `public`: anybody. */
  readonly scheme: 'partner' | 'legacy' | 'gateway' | 'public';
  readonly scope: string | undefined;
  readonly merchant: 'path' | 'header' | undefined;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedRoute>>>>;
}

interface DescribedRoute {
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

/** The callers of the matrix, and what each of them is. */
export const CALLERS = {
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

export type Caller = keyof typeof CALLERS;

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
};

const NO_KEY = {
  partner: '401 missing_api_key',
  legacy: '401 missing_merchant_api_key',
  gateway: '401 missing_auth_headers',
} as const;

/** The answer that a route owes a caller. */
export function verdictOf(route: GuardedRoute, caller: Caller): Verdict {
  const { method, path, scheme, merchant } = route;
  if (scheme === 'public') return 'yes';
  const isGateway = scheme === 'gateway';
  // A sandbox has one clock, for all its partners.
  const isShared = path.startsWith('/v1/test/');
  // The unguessable id of a payment is the right to pay it: gateway routes take any caller of its mode.
  const ownOr = (refusal: Verdict) => {
    if (isGateway || isShared) return 'yes';
    if (merchant !== undefined) return refusal;
    return path.includes('/{id}') ? '404 invalid_params' : 'own';
  };
  const verdicts: Readonly<Record<Caller, Verdict>> = {
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
    'other merchant': method === 'POST' && path === '/v1/merchants' ? '403 forbidden' : ownOr('403 forbidden'),
    'address not allowed': '403 forbidden',
    'App-Id': isGateway ? 'yes' : NO_KEY[scheme],
    frozen: STOPPED_WHILE_FROZEN[`${method} ${path}`] ?? 'yes',
  };
  return verdicts[caller];
}

/** The refusal of an object that is not the named merchant's. Routes about the merchant alone name none. */
function foreignObject({ method, path, merchant }: GuardedRoute): Verdict {
  if (merchant === 'path' || path === '/v1/refunds/{id}') return path.endsWith('/{id}') ? '404 invalid_params' : 'own';
  const namesPayment = path.includes('{id}') || (method === 'POST' && path === '/v1/refunds');
  return namesPayment ? '404 payment_not_found' : 'own';
}

export function guardedRoutes({ paths }: ApiDocument): GuardedRoute[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security = [], parameters = [] }]) => {
      const schemes = security.flatMap((choice) => Object.keys(choice));
      const scheme = schemes.includes('appId')
        ? 'gateway'
        : schemes.includes('legacyApiKey')
          ? 'legacy'
          : schemes.includes('apiKey')
            ? 'partner'
            : 'public';
      const isNamed = parameters.some(({ name }) => name === 'Merchant-Id');
      return {
        method: method.toUpperCase(),
        path,
        scheme,
        scope: security.flatMap((choice) => Object.values(choice).flat())[0],
        merchant: isNamed ? 'header' : path.includes('{merchantId}') ? 'path' : undefined,
      };
    }),
  );
}

/** `docs/authorisation.md`: what every route answers to every caller. */
export function authorisationPage(document: ApiDocument): string {
  const callers = Object.entries(CALLERS).map(([name, meaning]) => `| ${name} | ${meaning} |`);
  return `# The authorisation matrix

The answer of every API route to every kind of caller. \`test/attacks/authorisation-matrix.test.ts\` sends each of these
requests to the gateway and compares the answer with this table.

| caller | is |
|---|---|
${callers.join('\n')}

\`yes\`: the caller is admitted; the rest of the request decides. \`own\`: the caller is admitted, and sees or makes only its own
objects. Everything else is the status and the code of the refusal.

${matrixTable(guardedRoutes(document)).join('\n')}

Pages and files (the checkout, \`/docs\`, \`/openapi.json\`, icons) are public, too.

This page is generated from the routes by \`npm run generate\`.
`;
}

export function matrixTable(routes: readonly GuardedRoute[]): string[] {
  const callers = Object.keys(CALLERS) as Caller[];
  const rows = routes.map((route) => [
    `\`${route.method} ${route.path}\``,
    route.scope === undefined ? 'public' : `\`${route.scope}\``,
    ...callers.map((caller) => verdictOf(route, caller)),
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(['route', 'scope', ...callers]), line(Array(callers.length + 2).fill('---')), ...rows.map(line)];
}
