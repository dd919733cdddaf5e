interface Schema {
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
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Body {
  readonly content: { readonly 'application/json': { readonly schema: Schema } };
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

interface Api {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Named {
  readonly name: string;
  readonly schema: Schema;
  /** Types of what is sent take lists that are read-only. */
  readonly isInput?: boolean;
}

/** The objects of events, and a field that only they have. */
const EVENT_DATA = {
  payment: { name: 'Payment', mark: 'gatewayUrl' },
  refund: { name: 'RefundData', mark: 'paymentId' },
  payment_link: { name: 'PaymentLink', mark: 'minimum' },
  merchant: { name: 'MerchantData', mark: 'email' },
  settlement_destination: { name: 'DestinationData', mark: 'bankType' },
  webhook_endpoint: { name: 'WebhookEndpointData', mark: 'apiVersion' },
} as const;

/** Objects of events that other answers have too. */
const NAMED_ELSEWHERE: readonly string[] = ['Payment', 'PaymentLink'];

const INDENT = '  ';

/** `sdk/src/api-types.ts`: the types of the client library, from the description of the API. */
export function sdkTypes(api: Api): string {
  const named = namesIn(api);
  return [
    '/** The bodies of the API. This file is generated from `openapi.json` by `scripts/sdk-types.ts`. */',
    ...named.map((each, index) => declare(each, named.slice(0, index), named)),
    ...eventTypes(answerOf(api, 'get', '/v1/events/{id}'), named),
  ].join('\n\n');
}

function namesIn(api: Api): Named[] {
  const answer = (method: string, path: string, ...way: string[]) => within(answerOf(api, method, path), way);
  const body = (method: string, path: string) => schemaOf(operationOf(api, method, path).requestBody);
  const query = (path: string) => queryOf(operationOf(api, 'get', path));
  const error = api.components.schemas.ErrorBody ?? {};
  const ofMerchant = '/v1/merchants/{merchantId}';
  const hooks = '/v1/webhook-endpoints';
  const oneHook = `${hooks}/{id}`;
  return [
    { name: 'ErrorCode', schema: within(error, ['code']) },
    { name: 'Issue', schema: within(error, ['issues', '[]']) },
    { name: 'PaymentStatus', schema: answer('get', '/v1/payments/{id}/status', 'status') },
    { name: 'Amount', schema: answer('get', '/v1/payments/{id}', 'amount') },
    { name: 'PaidWith', schema: nonNull(answer('get', '/v1/payments/{id}', 'info')) },
    { name: 'WholeRefund', schema: answer('get', '/v1/payments/{id}', 'refund') },
    { name: 'PaymentRefund', schema: answer('get', '/v1/payments/{id}', 'refunds', '[]') },
    { name: 'Payment', schema: answer('get', '/v1/payments/{id}') },
    { name: 'NewPayment', schema: body('post', '/v1/payments'), isInput: true },
    { name: 'CreatedPayment', schema: answer('post', '/v1/payments') },
    { name: 'PaymentState', schema: answer('get', '/v1/payments/{id}/status') },
    { name: 'CancelledPayment', schema: answer('post', '/v1/payments/{id}/cancel') },
    { name: 'PaymentQuery', schema: query('/v1/payments'), isInput: true },
    { name: 'ListedPayment', schema: answer('get', '/v1/payments', 'data', '[]') },
    { name: 'PaymentPage', schema: answer('get', '/v1/payments') },
    { name: 'NewRefund', schema: body('post', '/v1/refunds'), isInput: true },
    { name: 'AcceptedRefund', schema: answer('post', '/v1/refunds') },
    { name: 'Refund', schema: answer('get', '/v1/refunds/{id}') },
    { name: 'RefundQuery', schema: query('/v1/refunds'), isInput: true },
    { name: 'RefundPage', schema: answer('get', '/v1/refunds') },
    { name: 'LateMoney', schema: answer('get', '/v1/late-money/{id}') },
    { name: 'NewReturn', schema: body('post', '/v1/late-money/{id}/return'), isInput: true },
    { name: 'LateMoneyQuery', schema: query('/v1/late-money'), isInput: true },
    { name: 'LateMoneyPage', schema: answer('get', '/v1/late-money') },
    { name: 'PaymentLink', schema: answer('get', '/v1/payment-links/{id}', 'paymentLink') },
    { name: 'NewPaymentLink', schema: body('post', '/v1/payment-links'), isInput: true },
    { name: 'PaymentLinkChange', schema: body('patch', '/v1/payment-links/{id}'), isInput: true },
    { name: 'PaymentLinkQuery', schema: query('/v1/payment-links'), isInput: true },
    { name: 'PaymentLinkPage', schema: answer('get', '/v1/payment-links') },
    { name: 'SignedReceipt', schema: answer('get', '/v1/payments/{id}/receipt') },
    { name: 'ReceiptKeys', schema: answer('get', '/.well-known/till-receipts.json') },
    { name: 'SettlementDestination', schema: answer('get', `${ofMerchant}/settlements`, 'crypto', '[]') },
    { name: 'FiatDestination', schema: answer('get', `${ofMerchant}/settlements`, 'fiat', '[]') },
    { name: 'SettlementDestinations', schema: answer('get', `${ofMerchant}/settlements`) },
    { name: 'NewDestinations', schema: body('post', `${ofMerchant}/settlements/crypto`), isInput: true },
    { name: 'NewMerchant', schema: body('post', '/v1/merchants'), isInput: true },
    { name: 'CreatedMerchant', schema: answer('post', '/v1/merchants', 'merchant') },
    { name: 'Merchant', schema: answer('get', ofMerchant, 'merchant') },
    { name: 'MerchantChange', schema: body('patch', ofMerchant), isInput: true },
    { name: 'ListedMerchant', schema: answer('get', '/v1/merchants', 'merchants', '[]') },
    { name: 'ChangedMerchant', schema: answer('patch', ofMerchant, 'merchant') },
    { name: 'Branding', schema: answer('get', `${ofMerchant}/branding`, 'branding') },
    { name: 'BrandingChange', schema: body('patch', `${ofMerchant}/branding`), isInput: true },
    { name: 'MerchantQuery', schema: query('/v1/merchants'), isInput: true },
    { name: 'MerchantPage', schema: answer('get', '/v1/merchants') },
    { name: 'Deleted', schema: answer('delete', ofMerchant) },
    { name: 'WebhookEndpoint', schema: answer('get', oneHook, 'webhookEndpoint') },
    { name: 'WebhookEndpointWithSecret', schema: answer('post', hooks, 'webhookEndpoint') },
    { name: 'NewWebhookEndpoint', schema: body('post', hooks), isInput: true },
    { name: 'WebhookEndpointChange', schema: body('patch', oneHook), isInput: true },
    { name: 'SecretRotation', schema: nonNull(body('post', `${oneHook}/rotate-secret`)), isInput: true },
    { name: 'WebhookDelivery', schema: answer('get', `${oneHook}/deliveries`, 'deliveries', '[]') },
    { name: 'DeliveryPage', schema: answer('get', `${oneHook}/deliveries`) },
    { name: 'DeliveryQuery', schema: query(`${oneHook}/deliveries`), isInput: true },
    { name: 'EventType', schema: answer('get', '/v1/events/{id}', 'type') },
    { name: 'EventPattern', schema: within(query('/v1/events'), ['types', '[]']) },
    { name: 'EventQuery', schema: query('/v1/events'), isInput: true },
    ...eventData(answer('get', '/v1/events/{id}', 'data')),
  ];
}

/** The objects of events, apart from those that have a name already. */
function eventData({ anyOf = [] }: Schema): Named[] {
  return Object.values(EVENT_DATA).flatMap(({ name, mark }) => {
    const schema = anyOf.find(({ properties = {} }) => Object.hasOwn(properties, mark));
    return schema === undefined || NAMED_ELSEWHERE.includes(name) ? [] : [{ name, schema }];
  });
}

/** An event by the objects it can be about, so that its type tells what `data` is. */
function eventTypes(event: Schema, named: readonly Named[]): string[] {
  const types = (within(event, ['type']).enum ?? []).map(String);
  const { type: _type, data: _data, ...rest } = event.properties ?? {};
  const fields = { ...rest, type: { enum: [] }, data: {} };
  const shape = objectType({ ...event, properties: fields }, { named, depth: 0 })
    .replace(/type: never;/, 'type: Type;')
    .replace(/data: unknown;/, 'data: Data;');
  const members = Object.entries(EVENT_DATA).map(([object, { name }]) => {
    const own = types.filter((type) => type.startsWith(`${object}.`)).map((type) => `'${type}'`);
    const data = named.some((each) => each.name === name) ? name : 'Record<string, unknown>';
    return `${INDENT}| EventOf<${own.join(' | ')}, ${data}>`;
  });
  return [
    `export interface EventOf<Type extends EventType, Data> ${shape}`,
    `/** An event. Its \`type\` tells what \`data\` is. */\nexport type TillEvent =\n${members.join('\n')};`,
    `export interface EventPage {\n${INDENT}events: TillEvent[];\n${INDENT}/** Pass it as \`after\` in the next request. */\n${INDENT}nextCursor: string;\n}\n`,
  ];
}

interface Place {
  /** The types that may be named instead of being written out. */
  readonly named: readonly Named[];
  readonly isInput?: boolean | undefined;
  readonly depth: number;
}

function declare({ name, schema, isInput }: Named, before: readonly Named[], all: readonly Named[]): string {
  const equal = before.find((each) => textOf(each.schema) === textOf(schema));
  if (equal !== undefined) return `export type ${name} = ${equal.name};`;
  const place = { named: all.filter((each) => each.name !== name), isInput, depth: 0 };
  const doc = docOf(schema.description, 0);
  return isObject(schema)
    ? `${doc}export interface ${name} ${objectType(schema, place)}`
    : `${doc}export type ${name} = ${typeOf(schema, place)};`;
}

function typeOf(schema: Schema, place: Place): string {
  const text = textOf(schema);
  const known = place.named.find((each) => textOf(each.schema) === text);
  if (known !== undefined) return known.name;
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
    const shown = place.isInput && isOptional ? `${type} | undefined` : type;
    return `${docOf(schema.description, depth)}${INDENT.repeat(depth)}${name}${isOptional ? '?' : ''}: ${shown};`;
  });
  return `{\n${lines.join('\n')}\n${INDENT.repeat(place.depth)}}`;
}

/** A list of values in a query may be one value. */
function listType({ items = {}, ...rest }: Schema, place: Place): string {
  const type = typeOf(items, place);
  const list = `${place.isInput ? 'readonly ' : ''}${/[| ]/.test(type) && !type.startsWith('{') ? `(${type})` : type}[]`;
  return 'x-query' in rest ? `${type} | ${list}` : list;
}

function literal(value: string | number | boolean | null): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function docOf(description: string | undefined, depth: number): string {
  return description === undefined ? '' : `${INDENT.repeat(depth)}/** ${description} */\n`;
}

function isObject(schema: Schema): boolean {
  return schema.type === 'object' && schema.properties !== undefined;
}

/** The shape alone: two schemas with the same text are the same type. */
function textOf(schema: Schema): string {
  return JSON.stringify(schema, (key, value) => (WORDS.has(key) && typeof value === 'string' ? undefined : value));
}

const WORDS = new Set(['description']);

function operationOf(api: Api, method: string, path: string): Operation {
  const operation = api.paths[path]?.[method];
  if (operation === undefined) throw new Error(`There is no ${method} ${path}.`);
  return operation;
}

function answerOf(api: Api, method: string, path: string): Schema {
  const { responses } = operationOf(api, method, path);
  return schemaOf(Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]);
}

function queryOf({ parameters = [] }: Operation): Schema {
  const own = parameters.filter(({ in: place, schema }) => place === 'query' && schema.deprecated !== true);
  const properties = own.map(({ name, description, schema }) => [name, { ...schema, description, 'x-query': true }]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function schemaOf(body: Body | undefined): Schema {
  if (body === undefined) throw new Error('There is no such body.');
  return body.content['application/json'].schema;
}

/** The schema of a field; `[]` stands for the items of a list. */
function within(schema: Schema, way: readonly string[]): Schema {
  return way.reduce((at, name) => {
    const next = name === '[]' ? at.items : at.properties?.[name];
    if (next === undefined) throw new Error(`There is no ${way.join('.')}.`);
    return next;
  }, schema);
}

function nonNull(schema: Schema): Schema {
  return { ...schema, type: 'object' };
}
