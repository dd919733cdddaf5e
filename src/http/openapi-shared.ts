import { isDeepStrictEqual } from 'node:util';

export type Json = Readonly<Record<string, unknown>>;

/** Operations by path or event, then by method. */
type Operations = Readonly<Record<string, Json>>;

interface Parameter extends Json {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
}

/** Replaces the parameters and responses that operations share by references. Returns the operations, and the shared parts by name. */
export function shareParts<Groups extends Readonly<Record<string, Operations>>>(groups: Groups) {
  const parameters: Record<string, Json> = {};
  const responses: Record<string, Json> = {};
  const isShared = sharedParameters(Object.values(groups));
  const share = (operation: unknown) =>
    withSharedErrors(withSharedParameters(operation as Json, isShared, parameters), responses);
  const operations = mapValues(groups, (group) => mapValues(group, (item) => mapValues(item, share)));
  return { operations, parameters, responses };
}

/** Returns a predicate for shared parameters: headers, and parameters of queries that are the same wherever they are used. */
function sharedParameters(groups: readonly Operations[]): (parameter: Parameter) => boolean {
  const operations = groups.flatMap((group) => Object.values(group).flatMap((item) => Object.values(item)));
  const inQueries = operations.flatMap((operation) => parametersOf(operation as Json)).filter(isInQuery);
  const byName = Map.groupBy(inQueries, ({ name }) => name);
  const isAlike = (uses: readonly Parameter[]) =>
    uses.length > 1 && uses.every((parameter) => isDeepStrictEqual(parameter, uses[0]));
  return (parameter) =>
    parameter.in === 'header' || (isInQuery(parameter) && isAlike(byName.get(parameter.name) ?? []));
}

function isInQuery({ in: place }: Parameter): boolean {
  return place === 'query';
}

function parametersOf({ parameters = [] }: Json): readonly Parameter[] {
  return parameters as readonly Parameter[];
}

/** Replaces shared parameters by references. `OptionalMerchantId` is the header `Merchant-Id` of operations that do not require it. */
function withSharedParameters(
  operation: Json,
  isShared: (parameter: Parameter) => boolean,
  shared: Record<string, Json>,
): Json {
  const refer = (parameter: Parameter) => {
    if (!isShared(parameter)) return parameter;
    const isOptional = parameter.in === 'header' && parameter.required !== true;
    const name = `${isOptional ? 'Optional' : ''}${pascalOf(parameter.name)}`;
    shared[name] ??= parameter;
    if (!isDeepStrictEqual(shared[name], parameter)) throw new Error(`Two parameters are named ${name}.`);
    return { $ref: `#/components/parameters/${name}` };
  };
  const parameters = parametersOf(operation).map(refer);
  return { ...operation, ...(parameters.length > 0 && { parameters }) };
}

/**
 * Replaces error responses by references. All errors have the same body, so responses differ only in their list of error codes. A
 * frequent list is a shared response, and so is a single code, such as `RateLimited`. Any other list becomes the description
 * beside a reference to `Error`.
 */
function withSharedErrors(operation: Json, shared: Record<string, Json>): Json {
  const refer = (response: unknown) => {
    const { description, content } = response as Json;
    if (!isDeepStrictEqual(content, ERROR_CONTENT)) return response;
    const codes = String(description).replaceAll('`', '');
    const name = FREQUENT_ERRORS[codes] ?? (codes.includes(',') ? 'Error' : pascalOf(codes));
    shared[name] ??= { description: name === 'Error' ? 'The request was refused.' : description, content };
    return { $ref: `#/components/responses/${name}`, ...(name === 'Error' && { description }) };
  };
  return { ...operation, responses: mapValues(operation.responses, refer) };
}

const ERROR_CONTENT = { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } };

const OF_HEADERS =
  'header_not_ascii, invalid_api_version, unknown_api_version, api_version_downgrade, conflicting_auth_headers';
const FREQUENT_ERRORS: Readonly<Record<string, string>> = {
  [`${OF_HEADERS}, invalid_params, params_validation`]: 'BadRequest',
  [`${OF_HEADERS}, invalid_params, params_validation, invalid_state`]: 'BadRequestOrState',
  'unauthorized, missing_api_key, invalid_api_key': 'UnauthorizedPartner',
  'unauthorized, missing_api_key, invalid_api_key, missing_merchant_id': 'UnauthorizedMerchant',
  'unauthorized, invalid_api_key, missing_auth_headers, missing_app_id, missing_client_id, invalid_app_id':
    'UnauthorizedPayer',
};

/** Turns `token_symbol`, `Merchant-Id` or `payment.succeeded` into the name of a type. */
export function pascalOf(name: string): string {
  return name.replace(/(?:^|[-_.])([a-z])/gi, (_, letter: string) => letter.toUpperCase());
}

export function mapValues(record: unknown, change: (value: unknown, key: string) => unknown): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(record as Json).map(([key, value]) => [key, change(value, key) as Json] as const),
  );
}
