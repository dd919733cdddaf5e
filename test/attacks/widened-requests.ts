import type { GuardedRoute } from '../../scripts/authorisation-page.ts';
import { isOwnRoute } from '../../src/http/entry/specified-routes.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
  readonly parameters?: readonly { readonly in: string; readonly name: string; readonly schema?: Schema }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses?: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** Additions to a request, all of which name objects of others. */
interface Widened {
  readonly query: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** Ids that an answer may repeat. */
  readonly sent: readonly string[];
  /** Names that the answer must refuse. */
  readonly refused: readonly string[];
}

/** Names of objects inside the gateway that no description has. */
const INSIDE = [
  'owner',
  'place',
  'caller',
  'rights',
  'actor',
  'origin',
  'isSeen',
  'isOwn',
  'since',
  'beforeId',
  'changes',
];
/** A refusal names at most 50 fields. */
const AT_ONCE = 40;

/** Requests to a route with ids of others: in each parameter of its own, and in all that other routes and answers know. */
export function* widenedRequests(
  document: Document,
  route: GuardedRoute,
  wanted: Readonly<Record<string, string>>,
  example: object | undefined,
): Generator<Widened> {
  if (route.scheme === 'public' || route.scheme === 'visitor') return;
  const operation = document.paths[route.path]?.[route.method.toLowerCase()] ?? {};
  const inQuery = (operation.parameters ?? []).filter((each) => each.in === 'query');
  const body = operation.requestBody?.content['application/json']?.schema;
  const isOwn = isOwnRoute({ method: route.method, url: route.path.replace(/\{(\w+)\}/g, ':$1') });
  for (const { name, schema } of inQuery.filter((each) => takesText(each.schema))) {
    for (const id of fitting(name, wanted)) {
      yield { query: `?${name}=${id}`, sent: [id], refused: [] };
      // A repeated parameter is a list.
      if (schema?.type === 'array') yield { query: `?${name}=${id}&${name}=${id}`, sent: [id], refused: [] };
    }
  }
  for (const [name, schema] of Object.entries(body?.properties ?? {}).filter(([, each]) => takesText(each))) {
    for (const id of fitting(name, wanted)) {
      yield { query: '', body: { [name]: schema.type === 'array' ? [id] : id }, sent: [id], refused: [] };
    }
  }
  const known = new Set(inQuery.map(({ name }) => name));
  for (const names of chunks([...namesIn(document)].filter((name) => !known.has(name)))) {
    const query = names.map((name) => `${name}=${fitting(name, wanted)[0]}`).join('&');
    yield { query: `?${query}`, sent: sentFor(names, wanted), refused: isOwn ? names : [] };
  }
  if (route.method === 'GET' || IGNORES_BODY.has(`${route.method} ${route.path}`)) return;
  const fields = new Set(Object.keys(body?.properties ?? {}));
  const whole: Place = { fields, path: '', put: (values) => values };
  for (const { fields, path, put } of [whole, ...placesIn(body, example, '')]) {
    for (const names of chunks([...namesIn(document)].filter((name) => !fields.has(name)))) {
      const values = Object.fromEntries(names.map((name) => [name, fitting(name, wanted)[0]]));
      const refused = isOwn ? names.map((name) => `${path}${name}`) : [];
      yield { query: '', body: put(values) as Record<string, unknown>, sent: sentFor(names, wanted), refused };
    }
  }
}

/** Routes whose body is not read, for clients that send one of any kind. */
const IGNORES_BODY: ReadonlySet<string> = new Set(['POST /v1/gateway/refund/{id}/actions']);

/** An object inside the example of a body, and a way to add members to it. */
interface Place {
  readonly fields: ReadonlySet<string>;
  /** The start of the names of its members in a refusal. */
  readonly path: string;
  readonly put: (values: object) => object;
}

/** The objects inside an example whose schema names their fields. */
function placesIn(schema: Schema | undefined, example: unknown, path: string): Place[] {
  if (schema === undefined || typeof example !== 'object' || example === null) return [];
  const members = Array.isArray(example) ? Object.entries(example) : Object.entries(example as object);
  return members.flatMap(([key, value]) => {
    const of = Array.isArray(example) ? schema.items : propertiesOf(schema)[key];
    const name = Array.isArray(example) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    const put = (changed: object) =>
      Array.isArray(example) ? Object.assign([...example], { [key]: changed }) : { ...example, [key]: changed };
    const inner = placesIn(of, value, name).map((each) => ({ ...each, put: (more: object) => put(each.put(more)) }));
    const fields = new Set(Object.keys(propertiesOf(of)));
    // WebAuthn defines the answers of browsers, which may have further fields.
    const isOpen = [of, ...(of?.anyOf ?? [])].some((each) => each?.additionalProperties === true);
    if (typeof value !== 'object' || Array.isArray(value) || fields.size === 0 || isOpen) return inner;
    return [{ fields, path: `${name}.`, put: (more: object) => put({ ...value, ...more }) }, ...inner];
  });
}

/** Those of an object, or of a choice of objects together. */
function propertiesOf({ properties = {}, anyOf = [] }: Schema = {}): Readonly<Record<string, Schema>> {
  return Object.assign({}, properties, ...anyOf.map(propertiesOf));
}

/** The ids that a parameter of this name could mean, or else that of the merchant. */
function fitting(name: string, wanted: Readonly<Record<string, string>>): readonly string[] {
  const meant = Object.entries(wanted).filter(([key]) =>
    name.toLowerCase().includes(key.replace(/Id$/, '').toLowerCase()),
  );
  return meant.length > 0 ? meant.map(([, id]) => id) : [wanted.merchantId ?? ''];
}

function sentFor(names: readonly string[], wanted: Readonly<Record<string, string>>): readonly string[] {
  return names.flatMap((name) => fitting(name, wanted));
}

function takesText(schema: Schema = {}): boolean {
  if (schema.enum !== undefined) return false;
  return (
    [schema.type].flat().some((type) => type === 'string') || (schema.items !== undefined && takesText(schema.items))
  );
}

function chunks(names: readonly string[]): string[][] {
  const count = Math.ceil(names.length / AT_ONCE);
  return Array.from({ length: count }, (_, index) => names.slice(index * AT_ONCE, (index + 1) * AT_ONCE));
}

let found: ReadonlySet<string> | undefined;

/** The names of all parameters, of all fields of bodies and answers, and of some objects inside. */
function namesIn({ paths }: Document): ReadonlySet<string> {
  if (found !== undefined) return found;
  const names = new Set(INSIDE);
  const walk = ({ properties = {}, items, anyOf = [] }: Schema) => {
    for (const [name, schema] of Object.entries(properties)) {
      names.add(name);
      walk(schema);
    }
    for (const schema of [...(items ? [items] : []), ...anyOf]) walk(schema);
  };
  for (const { parameters = [], requestBody, responses = {} } of Object.values(paths).flatMap((methods) =>
    Object.values(methods),
  )) {
    for (const { name, in: place } of parameters) if (place !== 'header') names.add(name);
    const bodies: readonly Content[] = [
      requestBody?.content ?? {},
      ...Object.values(responses).map((each) => each.content ?? {}),
    ];
    for (const { schema } of bodies.flatMap((each) => Object.values(each))) if (schema !== undefined) walk(schema);
  }
  found = names;
  return names;
}
