import swagger from '@fastify/swagger';
import type { FastifySchema, RouteOptions } from 'fastify';
import { EVENT_TYPES, PUBLIC_EVENT_TYPES } from '../domain/event.ts';
import { MODES } from '../domain/mode.ts';
import { KNOWN_VERSIONS } from '../domain/version.ts';
import { CATALOGUE, type ErrorCode } from '../errors.ts';

import type { App } from './deps.ts';
import type { Access } from './entry/access.ts';
import { NO_BODY } from './entry/request-format.ts';
import { withoutNames } from './entry/unknown-fields.ts';
import { withComponents } from './openapi-components.ts';
import { pascalOf } from './openapi-shared.ts';
import { SAMPLES } from './samples.ts';
import { ErrorBody } from './schemas.ts';
import { SECURITY_SCHEMES } from './security-schemes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The error codes of this route, beyond those of every route with its access. */
    errors?: readonly ErrorCode[];
    /** The way the route treats the header `Idempotency-Key`. If this is missing, the header is ignored. */
    idempotency?: 'required' | 'accepted';
  }
}

/** Describes every `/v1` route from the schemas and settings that guard it. */
export async function describeApi(app: App): Promise<void> {
  app.addSchema(ErrorBody);
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Till',
        version: KNOWN_VERSIONS[0],
        description: INTRODUCTION,
        contact: { name: 'The operator of this gateway' },
        license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: 'http://localhost:8080', description: 'The sandbox' }],
      tags: [
        { name: 'Merchants', description: 'The shops a partner takes payments for.' },
        { name: 'Settlement destinations', description: 'The destinations of a merchant’s money.' },
        { name: 'Payments', description: 'Payments to merchants: create, follow, list, cancel.' },
        { name: 'Statistics', description: 'Numbers about payments, by days.' },
        { name: 'Refunds', description: 'Refunds of payments.' },
        { name: 'Payouts', description: 'Held amounts on their way to merchants.' },
        { name: 'Events', description: 'Everything that happened to a partner’s objects, in order.' },
        { name: 'Payment links', description: 'Pages that anybody can pay at, without a shop.' },
        { name: 'Webhooks', description: 'Events as requests to a URL of your own, signed.' },
        { name: 'x402', description: 'For programs that pay by themselves: a payment as an x402 resource.' },
        { name: 'Gateway', description: 'For wallets and the checkout: the payer’s side of a payment.' },
        {
          name: 'API keys',
          description: 'For people of the dashboard: the keys of a partner, and the requests made with them.',
        },
        { name: 'People', description: 'For the dashboard: people, their sessions and passkeys, and the audit log.' },
        {
          name: 'Operator',
          description: 'For people of the operator: the state of the gateway. These routes only read.',
        },
        { name: 'Sandbox', description: 'For tests. Only a sandbox has these routes.' },
        { name: 'Operations', description: 'For monitors and machines.' },
      ],
      webhooks: describeWebhooks(),
      components: {
        securitySchemes: SECURITY_SCHEMES,
      },
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) => String(schema.$id ?? `schema-${index}`),
    },
    transform: ({ schema, url, route }) => ({
      url,
      schema: illustrate(route, describeRoute(route, withoutNames(withoutNoBody(schema ?? {})))),
    }),
    transformObject: (described) =>
      'openapiObject' in described ? withComponents(described.openapiObject as never) : described.swaggerObject,
  });
}

function withoutNoBody({ body, ...schema }: FastifySchema): FastifySchema {
  return body === undefined || body === NO_BODY ? schema : { ...schema, body };
}

/** The requests that webhook receivers get, one for each type of event. */
function describeWebhooks() {
  const parameters = Object.entries(SIGNED_HEADERS).map(([name, description]) => ({
    in: 'header' as const,
    name,
    required: true,
    description,
    schema: { type: 'string' as const },
  }));
  return Object.fromEntries(
    PUBLIC_EVENT_TYPES.map((type) => [
      type,
      {
        post: {
          operationId: `on${pascalOf(type)}`,
          summary: EVENT_TYPES[type].summary,
          security: [],
          parameters,
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  title: `${pascalOf(type)}Event`,
                  allOf: [{ $ref: '#/components/schemas/Event' }],
                  properties: { type: { const: type } },
                },
              },
            },
          },
          responses: { '2XX': { description: 'The delivery has succeeded. Every other answer is a failure.' } },
        },
      },
    ]),
  );
}

const SIGNED_HEADERS = {
  'webhook-id': 'The id of the event, the same for all attempts.',
  'webhook-timestamp': 'The time of the attempt, in seconds since 1970.',
  'webhook-signature': '`v1,` and the signature in base64; several with blanks between them while a secret is rotated.',
};

const INTRODUCTION = `An open, self-hosted payment gateway. All bodies are JSON.

Send your key in \`Api-Key\`. A key belongs to one mode, test or live, and sees only the objects of that mode. The examples below follow one payment: use your own ids. They use these variables, here with the values of a sandbox:

\`\`\`sh
API_KEY=$(node -p "require('./.till/sandbox.json').apiKey")
MERCHANT_ID=$(node -p "require('./.till/sandbox.json').merchantId")
IDEMPOTENCY_KEY=order-42
\`\`\`

Every answer carries a \`Request-Id\`; send your own and it is used. Errors have a \`code\` for programs and a \`message\` for people; validation errors name every broken field in \`issues\`.

Requests with an \`Idempotency-Key\` may be repeated safely for seven days: the answer is the first one's, marked with \`Idempotent-Replayed: true\`.`;

function describeRoute(route: RouteOptions, schema: FastifySchema): FastifySchema {
  const { access, errors = [], idempotency } = route.config ?? {};
  const own = schema.response as Record<string, unknown>;
  // A public route without error codes of its own is a page or a file.
  if (access === undefined && errors.length === 0) return { ...schema, security: [] };
  if (access === undefined) {
    const codes = [...errors, 'rate_limited', 'internal_error'] as const;
    return { ...schema, security: [], response: { ...responsesOf(codes, (code) => CATALOGUE[code].statuses), ...own } };
  }
  const response = { ...own, ...errorResponses(access, errors, route) };
  return {
    ...schema,
    headers: headersOf(access, idempotency),
    security: securityOf(access),
    response,
    ...(access.needsPasskey && { 'x-needs-passkey': true }),
  };
}

/** Adds the examples to the description of the route only, not to the route itself. */
function illustrate({ method, url }: RouteOptions, schema: FastifySchema): FastifySchema {
  const sample = SAMPLES[`${[method].flat()[0]?.toLowerCase()} ${url.replace(/:(\w+)/g, '{$1}')}`];
  if (sample === undefined) return schema;
  const { params, body, response } = schema as Readonly<Record<string, Readonly<Record<string, object>> | undefined>>;
  const success = Object.keys(response ?? {}).find((status) => status.startsWith('2'));
  return {
    ...schema,
    ...(params &&
      sample.params && { params: { ...params, properties: withExamples(params.properties, sample.params) } }),
    ...(body && sample.body && { body: { ...body, examples: [sample.body] } }),
    ...(success && { response: { ...response, [success]: { ...response?.[success], examples: [sample.answer] } } }),
  };
}

function withExamples(properties: object | undefined, values: Readonly<Record<string, string>>): object {
  return Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, schema]) => [
      name,
      values[name] === undefined ? schema : { ...schema, examples: [values[name]] },
    ]),
  );
}

/** The security requirements of a route. A key needs the scope. A wallet app has no scopes: it may call only the gateway routes. */
function securityOf({ scheme, scope }: Access): Record<string, readonly string[]>[] {
  return SECURITY[scheme].map((name) => ({ [name]: name === 'appId' || name === 'visitor' ? [] : [scope] }));
}

const SECURITY = {
  partner: ['apiKey', 'session'],
  legacy: ['legacyApiKey', 'apiKey'],
  gateway: ['apiKey', 'appId'],
  person: ['session'],
  visitor: ['visitor'],
} as const satisfies Record<Access['scheme'], readonly string[]>;

function headersOf({ scheme, merchant, mayOmitMerchant }: Access, idempotency: 'required' | 'accepted' | undefined) {
  const properties: Record<string, object> = {
    'Pay-Version': {
      type: 'string',
      description: `API version for this request: ${KNOWN_VERSIONS.join(', ')}. Without it, the partner's pinned version. \`WCP-Version\` is an alias.`,
    },
  };
  if (merchant === 'header') properties['Merchant-Id'] = { type: 'string', description: 'The merchant.' };
  if (scheme === 'gateway')
    properties['Client-Id'] = { type: 'string', description: 'Any id of the client; needed with `App-Id`.' };
  if (scheme === 'person') {
    properties['Session-Mode'] = { type: 'string', enum: [...MODES], description: 'The mode of the objects.' };
  }
  if (idempotency !== undefined) {
    properties['Idempotency-Key'] = {
      type: 'string',
      minLength: 1,
      maxLength: 255,
      description: 'Makes a retry safe.',
    };
  }
  const required = [
    ...(merchant === 'header' && !mayOmitMerchant ? ['Merchant-Id'] : []),
    ...(scheme === 'person' ? ['Session-Mode'] : []),
    ...(idempotency === 'required' ? ['Idempotency-Key'] : []),
  ];
  return { type: 'object', properties, required };
}

const ALWAYS: readonly ErrorCode[] = [
  'header_not_ascii',
  'invalid_api_version',
  'unknown_api_version',
  'api_version_downgrade',
  'unauthorized',
  'forbidden',
  'rate_limited',
  'internal_error',
];
const CREDENTIALS: Readonly<Record<Access['scheme'], readonly ErrorCode[]>> = {
  partner: ['missing_api_key', 'invalid_api_key', 'conflicting_auth_headers'],
  legacy: ['missing_merchant_api_key', 'invalid_api_key', 'conflicting_auth_headers'],
  person: ['conflicting_auth_headers'],
  visitor: [],
  gateway: [
    'invalid_api_key',
    'missing_auth_headers',
    'missing_app_id',
    'missing_client_id',
    'invalid_app_id',
    'conflicting_auth_headers',
  ],
};

/** One response per status, with the codes that it may carry. */
function errorResponses(access: Access, errors: readonly ErrorCode[], route: RouteOptions) {
  const hasInput = readsBody(route) || route.schema?.querystring !== undefined || namesOwnObject(access, route);
  const codes = new Set([
    ...ALWAYS,
    ...CREDENTIALS[access.scheme],
    ...(access.merchant === 'header' && !access.mayOmitMerchant ? (['missing_merchant_id'] as const) : []),
    ...(access.merchant === undefined ? [] : (['merchant_not_found'] as const)),
    ...(hasInput ? (['invalid_params', 'params_validation'] as const) : []),
    ...errors,
  ]);
  return responsesOf(codes, (code) => statusesOf(code, access, route));
}

function responsesOf(codes: Iterable<ErrorCode>, statusesFor: (code: ErrorCode) => readonly number[]) {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    for (const status of statusesFor(code)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const entries = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    entries.map(([status, list]) => [
      status,
      { description: list.map((code) => `\`${code}\``).join(', '), $ref: 'ErrorBody#' },
    ]),
  );
}

/** The statuses that this route can give with the code. */
function statusesOf(code: ErrorCode, access: Access, route: RouteOptions): readonly number[] {
  const { statuses } = CATALOGUE[code];
  if (code === 'invalid_params')
    return [400, ...(canMiss(access, route) ? [404] : []), ...(readsBody(route) ? [413, 415] : [])];
  if (code === 'params_validation') return access.scheme === 'gateway' ? statuses : [400];
  return statuses;
}

/**
 * True if the path names an object for which the catalogue has no error code. The answer for an unknown object is then 404
 * `invalid_params`.
 */
function namesOwnObject({ scheme, merchant }: Access, { url }: RouteOptions): boolean {
  return (
    url.endsWith('/:id') ||
    ((scheme === 'partner' || scheme === 'person') && merchant === undefined && url.includes('/:id/'))
  );
}

/** True if the route can answer 404 `invalid_params`: for an unknown object in its path, or because its `errors` say so. */
function canMiss(access: Access, route: RouteOptions): boolean {
  return namesOwnObject(access, route) || (route.config?.errors ?? []).includes('invalid_params');
}

/** True if the route reads a body. A body that was sent is always read and may be invalid, even on a route that needs none. */
function readsBody({ method }: RouteOptions): boolean {
  return [method].flat().some((name) => name !== 'GET' && name !== 'HEAD');
}
