import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | number | boolean | null)[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly not?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly deprecated?: boolean;
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly description?: string;
  readonly schema: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
}

interface Api {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
  };
}

/** Components that the methods of the library take. Optional fields may be undefined, and lists are read-only. */
const TAKEN = [
  'NewPayment',
  'NewRefund',
  'NewReturn',
  'NewPaymentLink',
  'PaymentLinkChange',
  'NewDestinations',
  'NewMerchant',
  'MerchantChange',
  'BrandingChange',
  'NewWebhookEndpoint',
  'WebhookEndpointChange',
  'SecretRotation',
];

/** Components that its methods answer with, and the bodies of errors and events. */
const GIVEN = [
  'ErrorBody',
  'Payment',
  'CreatedPayment',
  'PaymentState',
  'CancelledPayment',
  'PaymentPage',
  'AcceptedRefund',
  'Refund',
  'RefundPage',
  'LateMoney',
  'LateMoneyPage',
  'PaymentLink',
  'PaymentLinkPage',
  'SignedReceipt',
  'ReceiptKeys',
  'SettlementDestinations',
  'CreatedMerchant',
  'Merchant',
  'MerchantPage',
  'Branding',
  'Deleted',
  'WebhookEndpoint',
  'WebhookEndpointWithSecret',
  'DeliveryPage',
  'Mode',
  'EventType',
  'EventPattern',
  'PaymentData',
  'RefundData',
  'MerchantData',
  'DestinationData',
];

/** The operations whose queries the methods take. */
const QUERIES = {
  PaymentQuery: 'listPayments',
  RefundQuery: 'listRefunds',
  LateMoneyQuery: 'listLateMoney',
  PaymentLinkQuery: 'listPaymentLinks',
  MerchantQuery: 'listMerchants',
  DeliveryQuery: 'listWebhookDeliveries',
  EventQuery: 'listEvents',
};

/** Components that the dashboard shows. */
const SHOWN = [
  'ApiKeyPage',
  'Asset',
  'AttentionCounts',
  'AuditLogPage',
  'Branding',
  'CurrentSession',
  'DeliveryPage',
  'EventPage',
  'Examination',
  'GatewayState',
  'LateMoneyPage',
  'Merchant',
  'MerchantCurrencies',
  'MerchantPage',
  'NetworkState',
  'Partner',
  'Passkey',
  'Payment',
  'PaymentDelivery',
  'PaymentLinkPage',
  'PaymentPage',
  'PaymentStatistics',
  'PaymentTimeline',
  'PayoutPage',
  'PersonLink',
  'PersonPage',
  'RefundPage',
  'RequestLogPage',
  'Session',
  'SignedReceipt',
  'WebhookEndpoint',
];

const FIRST_LINE =
  '/** The bodies of the API. This file is generated from `openapi.json` by `scripts/api-types.ts`. */';

/** Further names of the library. */
const ALIASES = { ChangedMerchant: 'ListedMerchant', WebhookEndpointData: 'WebhookEndpoint' };

/** The component in `data` of events, by the first part of their types. */
const EVENT_DATA = {
  payment: 'PaymentData',
  refund: 'RefundData',
  payment_link: 'PaymentLink',
  merchant: 'MerchantData',
  settlement_destination: 'DestinationData',
  webhook_endpoint: 'WebhookEndpointData',
};

const INDENT = '  ';
const ROOT = join(import.meta.dirname, '..');

if (import.meta.main) {
  const api: Api = JSON.parse(await readFile(join(ROOT, 'openapi.json'), 'utf8'));
  await write('sdk/src/api-types.ts', sdkTypes(api));
  await write('web/src/dashboard/api-types.ts', dashboardTypes(api));
}

/** Writes a file that git ignores. A file that is current stays untouched: another process may be reading it. */
async function write(name: string, types: string): Promise<void> {
  const file = join(ROOT, name);
  if ((await readFile(file, 'utf8').catch(() => '')) !== types) await writeFile(file, types);
}

function dashboardTypes(api: Api): string {
  const declared = usedBy(api, SHOWN).map((name) => declare(name, component(api, name), false));
  return `${[FIRST_LINE, ...declared].join('\n\n')}\n`;
}

/** The types of the client library, under the names that the description of the API has. */
function sdkTypes(api: Api): string {
  const given = usedBy(api, GIVEN);
  const taken = usedBy(api, TAKEN).filter((name) => !given.includes(name));
  const queries = Object.entries(QUERIES).map(([name, operationId]) => [name, queryOf(api, operationId)] as const);
  const used = queries.flatMap(([, query]) => namesIn(query)).filter((name) => !given.includes(name));
  return [
    FIRST_LINE,
    ...[...new Set([...given, ...used])].map((name) => declare(name, component(api, name), false)),
    ...taken.map((name) => declare(name, component(api, name), true)),
    ...queries.map(([name, query]) => declare(name, query, true)),
    ...Object.entries(ALIASES).map(([name, other]) => `export type ${name} = ${other};`),
    ...eventTypes(component(api, 'Event'), component(api, 'EventType')),
  ].join('\n\n');
}

/** The components, and those that they consist of. */
function usedBy(api: Api, names: readonly string[]): string[] {
  const found = new Set<string>();
  const add = (name: string) => {
    if (found.has(name)) return;
    found.add(name);
    for (const inner of namesIn(component(api, name))) add(inner);
  };
  for (const name of names) add(name);
  return [...found];
}

function namesIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { $ref } = schema as Schema;
  return [...(typeof $ref === 'string' ? [nameOf($ref)] : []), ...Object.values(schema).flatMap(namesIn)];
}

function nameOf(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}

function component({ components }: Api, name: string): Schema {
  const schema = components.schemas[name];
  if (schema === undefined) throw new Error(`There is no component ${name}.`);
  return schema;
}

/** The parameters of a query as an object. A list may be one value. */
function queryOf(api: Api, operationId: string): Schema {
  const operations = Object.values(api.paths).flatMap((item) => Object.values(item));
  const operation = operations.find((each) => each.operationId === operationId);
  if (operation === undefined) throw new Error(`There is no operation ${operationId}.`);
  const parameters = (operation.parameters ?? []).map((each) =>
    '$ref' in each ? api.components.parameters[nameOf(each.$ref)] : each,
  );
  const own = parameters.filter((each) => each?.in === 'query' && each.schema.deprecated !== true) as Parameter[];
  const properties = own.map(({ name, description, schema }) => [
    name,
    { ...(schema.items === undefined ? schema : { anyOf: [schema.items, schema] }), description },
  ]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** An event by the objects it can be about, so that its type decides the type of `data`. */
function eventTypes(event: Schema, { enum: types = [] }: Schema): string[] {
  const { type: _type, data: _data, ...rest } = event.properties ?? {};
  const fields = { ...rest, type: { $ref: '/Type' }, data: { $ref: '/Data' } };
  const shape = objectType({ ...event, properties: fields }, { isTaken: false, depth: 0 });
  const members = Object.entries(EVENT_DATA).map(([object, data]) => {
    const own = types.filter((type) => String(type).startsWith(`${object}.`)).map((type) => `'${type}'`);
    return `${INDENT}| EventOf<${own.join(' | ')}, ${data}>`;
  });
  return [
    `export interface EventOf<Type extends EventType, Data> ${shape}`,
    `/** An event. Its \`type\` decides the type of \`data\`. */\nexport type TillEvent =\n${members.join('\n')};`,
    `export interface EventPage {\n${INDENT}events: TillEvent[];\n${INDENT}/** Pass it as \`after\` in the next request. */\n${INDENT}nextCursor: string;\n}\n`,
  ];
}

interface Place {
  readonly isTaken: boolean;
  readonly depth: number;
}

function declare(name: string, schema: Schema, isTaken: boolean): string {
  const place = { isTaken, depth: 0 };
  const doc = docOf(schema.description, 0);
  return schema.type === 'object' && schema.properties !== undefined
    ? `${doc}export interface ${name} ${objectType(schema, place)}`
    : `${doc}export type ${name} = ${typeOf(schema, place)};`;
}

function typeOf(schema: Schema, place: Place): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  if (schema.anyOf !== undefined) return schema.anyOf.map((each) => typeOf(each, place)).join(' | ');
  if (schema.enum !== undefined) return schema.enum.map((value) => literal(value)).join(' | ') || 'never';
  const types = [schema.type ?? []].flat();
  if (types.length > 1) {
    return types.map((type) => (type === 'null' ? 'null' : typeOf({ ...schema, type }, place))).join(' | ');
  }
  switch (types[0]) {
    case 'object':
      return objectType(schema, place);
    case 'array':
      return listType(schema, place);
    case 'integer':
      return 'number';
    case undefined:
      return 'unknown';
    default:
      return types[0];
  }
}

function objectType({ properties, additionalProperties, required = [] }: Schema, place: Place): string {
  if (properties === undefined) {
    const values = typeof additionalProperties === 'object' ? typeOf(additionalProperties, place) : 'unknown';
    return `Record<string, ${values}>`;
  }
  const depth = place.depth + 1;
  const lines = Object.entries(properties).flatMap(([name, schema]) => {
    // A field that nobody may send.
    if (schema.not !== undefined) return [];
    const isOptional = !required.includes(name);
    const type = typeOf(schema, { ...place, depth });
    const shown = place.isTaken && isOptional ? `${type} | undefined` : type;
    return `${docOf(schema.description, depth)}${INDENT.repeat(depth)}${name}${isOptional ? '?' : ''}: ${shown};`;
  });
  return `{\n${lines.join('\n')}\n${INDENT.repeat(place.depth)}}`;
}

function listType({ items = {} }: Schema, place: Place): string {
  const type = typeOf(items, place);
  return `${place.isTaken ? 'readonly ' : ''}${/[| ]/.test(type) && !type.startsWith('{') ? `(${type})` : type}[]`;
}

function literal(value: string | number | boolean | null): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function docOf(description: string | undefined, depth: number): string {
  return description === undefined ? '' : `${INDENT.repeat(depth)}/** ${description} */\n`;
}
