import type { HTTPMethods, InjectOptions } from 'fastify';
import { expandedApi } from '../openapi.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly examples?: readonly unknown[];
  readonly $ref?: string;
}

interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly schema?: Schema;
  readonly example?: unknown;
}

interface Operation {
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema; example?: unknown }>> };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const document: Document = expandedApi;

/** Values that exist in the gateway under test, so that requests reach the code behind the checks. */
export interface KnownValues {
  /** The headers of a person who is signed in. */
  readonly person: Readonly<Record<string, string>>;
  readonly credentials: readonly Readonly<Record<string, string>>[];
  readonly ids: readonly string[];
  /** The id of an object of the right kind for `{id}` in a path. */
  readonly idFor: (path: string) => string;
  readonly merchantId: string;
  readonly eventId: string;
  readonly optionIds: readonly string[];
  readonly accounts: readonly string[];
}

/** A generator of requests. The same seed gives the same requests. */
export function createFuzz(seed: number, known: KnownValues): () => InjectOptions & { readonly url: string } {
  const random = mulberry32(seed);
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)] as T;
  const chance = (probability: number) => random() < probability;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const texts = [...HOSTILE_TEXTS, ...known.ids, ...known.accounts, ...known.optionIds];

  function text(): string {
    const base = chance(0.5)
      ? pick(texts)
      : String.fromCodePoint(...Array.from({ length: below(40) }, () => below(0x2ff)));
    return chance(0.1) ? base.slice(below(base.length + 1)) + pick(texts) : base;
  }

  function anything(depth = 0): unknown {
    const makers = [text, () => null, () => chance(0.5), () => pick(HOSTILE_NUMBERS), () => ({}), () => []];
    if (depth < 3) {
      makers.push(() => Array.from({ length: below(5) }, () => anything(depth + 1)) as never);
      makers.push(() => Object.fromEntries(Array.from({ length: below(5) }, () => [text(), anything(depth + 1)])));
    }
    return pick<() => unknown>(makers)();
  }

  function value(schema: Schema | undefined, name: string): unknown {
    if (schema === undefined || chance(0.15)) return anything();
    if (name === 'optionId' && chance(0.8)) return pick(known.optionIds);
    if (/account/i.test(name) && schema.type === 'string' && chance(0.8)) return pick(known.accounts);
    if (/id$/i.test(name) && chance(0.7)) return pick(known.ids);
    if (schema.anyOf !== undefined) return value(pick(schema.anyOf), name);
    if (schema.enum !== undefined) return pick(schema.enum);
    if (schema.const !== undefined) return schema.const;
    if (schema.examples !== undefined && chance(0.6)) return pick(schema.examples);
    return ofType([schema.type ?? 'string'].flat()[0] ?? 'string', schema, name);
  }

  function ofType(type: string, schema: Schema, name: string): unknown {
    if (type === 'array') return Array.from({ length: below(4) }, () => value(schema.items, name));
    if (type === 'object') return members(schema);
    if (type === 'integer' || type === 'number') return chance(0.5) ? below(300) : pick(HOSTILE_NUMBERS);
    if (type === 'boolean') return chance(0.5);
    return type === 'null' ? null : text();
  }

  function members(schema: Schema): Record<string, unknown> {
    const entries = Object.entries(schema.properties ?? {})
      .filter(() => chance(0.85))
      .map(([name, member]) => [name, value(member, name)] as const);
    return Object.fromEntries(chance(0.1) ? [...entries, [text(), anything()]] : entries);
  }

  function bodyOf({ requestBody }: Operation): string | Buffer | undefined {
    const content = requestBody?.content['application/json'];
    if (chance(0.08)) return pick(HOSTILE_BODIES);
    if (content === undefined) return chance(0.1) ? JSON.stringify(anything()) : undefined;
    // Some requests are good, so that others find something to change.
    const mixed = { ...((content.example as object | undefined) ?? {}), ...(chance(0.7) && members(content.schema)) };
    return JSON.stringify(chance(0.1) ? anything() : mixed);
  }

  function queryOf({ parameters = [] }: Operation): string {
    const given = parameters.filter((parameter) => parameter.in === 'query' && chance(0.4));
    const pairs = given.flatMap(({ name, schema, example }) => {
      // A held request waits for a clock that nobody moves here.
      if (name === 'maxPollMs') return [`${name}=${pick(['0', '-1', 'x', ''])}`];
      const values = [chance(0.3) && example !== undefined ? example : value(schema, name)].flat();
      return values.map((each) => `${name}=${chance(0.9) ? encodeURIComponent(wellFormed(each)) : wellFormed(each)}`);
    });
    const all = chance(0.05) ? [...pairs, pick(['%', '%zz', 'a[b]=c', '__proto__=x', '=', '&&'])] : pairs;
    return all.length === 0 ? '' : `?${all.join('&').replace(/[\s#]|[^\x20-\x7e]/g, '+')}`;
  }

  function pathOf(path: string): string {
    return path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
      const exists = name === 'id' && chance(0.6) ? known.idFor(path) : pick(known.ids);
      const segment = chance(0.75) ? exists : wellFormed(value({ type: 'string' }, name));
      return chance(0.95) ? encodeURIComponent(segment) : pick(['%', '%00', '..', '%2e%2e', '%ff']);
    });
  }

  /** A payment of x402, with anything in place of some members. */
  function paymentHeader(): string {
    const some = (given: unknown) => (chance(0.92) ? given : anything());
    const [account, nonce] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(32)}`];
    const times = { validAfter: some('0'), validBefore: some('9999999999') };
    const authorization = {
      from: some(account),
      to: some(account),
      value: some('10000000'),
      ...times,
      nonce: some(nonce),
    };
    const accepted = {
      scheme: some('exact'),
      network: some('eip155:31337'),
      asset: some('0x4e4707DE5c8431f59Fa45A904854551c692C04f9'),
      extra: anything(),
    };
    const payload = some({ authorization: some(authorization), signature: some(`0x${'1b'.repeat(65)}`) });
    const extensions = chance(0.5) ? {} : { 'payment-identifier': some({ info: some({ id: anything() }) }) };
    const payment = some({ x402Version: some(2), accepted: some(accepted), payload, extensions });
    return Buffer.from(JSON.stringify(payment)).toString('base64').slice(0, 12_000);
  }

  function headersOf({ parameters = [], security = [] }: Operation): Record<string, string> {
    const takesKeys = security.some((choice) => 'apiKey' in choice);
    const credentials = takesKeys ? pick(known.credentials) : known.person;
    const headers: Record<string, string> = { ...(chance(0.9) ? credentials : {}) };
    for (const { name, in: place, schema } of parameters) {
      if (place !== 'header' || /version/i.test(name) === chance(0.97)) continue;
      // Its own credentials open half of the doors.
      if (headers[name.toLowerCase()] !== undefined && chance(0.5)) continue;
      if (name.toLowerCase() === 'payment-signature' && chance(0.9)) headers[name.toLowerCase()] = paymentHeader();
      else if (schema?.enum !== undefined && chance(0.9)) headers[name.toLowerCase()] = String(pick(schema.enum));
      else headers[name.toLowerCase()] = chance(0.8) ? pick(known.ids) : headerText(text());
    }
    if (chance(0.05)) headers[pick(OUR_HEADERS)] = headerText(text());
    return headers;
  }

  return () => {
    const { method, path, operation } = pick(operations);
    const payload = bodyOf(operation);
    const type = chance(0.95)
      ? 'application/json'
      : pick(['text/plain', 'application/xml', '', 'application/json; charset=x']);
    return {
      method: (chance(0.03)
        ? pick(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])
        : method.toUpperCase()) as HTTPMethods & InjectOptions['method'],
      url: `${pathOf(path)}${queryOf(operation)}`,
      headers: { ...headersOf(operation), ...(payload !== undefined && type !== '' && { 'content-type': type }) },
      ...(payload !== undefined && { payload }),
    };
  };
}

/** A request with strange bytes in one parameter. */
interface StrangeRequest {
  /** The route. */
  readonly route: string;
  /** The place of the strange bytes, such as `query limit` or `body items[].name`. */
  readonly parameter: string;
  readonly request: InjectOptions & { readonly url: string };
}

/**
 * Parts of URLs: NUL, also encoded once more; a byte that is no UTF-8, half of a character, and a lone surrogate. PostgreSQL takes
 * none of them.
 */
const STRANGE_IN_URLS = ['%00', '%2500', '%ff', '%f0%9f', '%ed%a0%80'];
/** NUL, and both halves of a surrogate pair alone: JSON can carry them, and PostgreSQL takes neither in `text` nor in `jsonb`. */
const STRANGE_IN_BODIES = ['\u0000', '\ud800', '\udc00'];

/** Requests with strange bytes in each parameter of each route, one at a time. */
export function* strangeRequests(known: KnownValues): Generator<StrangeRequest> {
  const [id = ''] = known.ids;
  let sent = 0;
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [name, { parameters = [], requestBody, security = [] }] of Object.entries(methods)) {
      const method = name.toUpperCase() as HTTPMethods & InjectOptions['method'];
      const route = `${method} ${path}`;
      const takesKeys = security.some((choice) => 'apiKey' in choice);
      const credentials: Record<string, string> = { ...(takesKeys ? known.credentials[0] : known.person) };
      // A new key each time. Otherwise the answer would be a conflict with an earlier request.
      const headers = () => {
        sent += 1;
        return { ...credentials, 'idempotency-key': `strange ${sent}` };
      };
      const filledIn = (text: string) =>
        text
          .replace('{merchantId}', known.merchantId)
          .replace('{deliveryId}', known.eventId)
          .replace('{id}', known.idFor(path))
          .replace(/\{\w+\}/g, id);
      const filled = filledIn(path);
      const content = requestBody?.content['application/json'];
      const good = content === undefined ? {} : { payload: (content.example ?? {}) as object };
      for (const parameter of parameters.filter((each) => each.in !== 'header')) {
        for (const text of STRANGE_IN_URLS.flatMap((each) => [each, `${id}${each}`, `1${each}`, `abc${each}abc`])) {
          const url =
            parameter.in === 'query'
              ? `${filled}?${parameter.name}=${text}`
              : filledIn(path.replace(`{${parameter.name}}`, text));
          yield {
            route,
            parameter: `${parameter.in} ${parameter.name}`,
            request: { method, url, headers: headers(), ...good },
          };
        }
      }
      for (const { at, value } of content === undefined ? [] : withStrange(content.example ?? {}, content.schema)) {
        const payload = value as object;
        yield { route, parameter: `body${at}`, request: { method, url: filled, headers: headers(), payload } };
      }
    }
  }
}

/** The value with strange bytes in each of its texts and names, one at a time. */
function* withStrange(
  value: unknown,
  schema: Schema,
  at = '',
): Generator<{ readonly at: string; readonly value: unknown }> {
  const isPlain = value === undefined || value === null || typeof value === 'string';
  const texts = STRANGE_IN_BODIES.flatMap((each) => [each, `${value ?? 'abc'}${each}`]);
  if (isPlain) for (const text of texts) yield { at, value: text };
  for (const form of [schema, ...(schema.anyOf ?? [])]) {
    if (form.items !== undefined) {
      const [first, ...rest] = Array.isArray(value) ? value : [];
      for (const each of withStrange(first, form.items, `${at}[]`)) yield { ...each, value: [each.value, ...rest] };
    }
    if (form.properties === undefined && (isPlain || typeof value !== 'object' || Array.isArray(value))) continue;
    const members = { ...(value as Record<string, unknown> | null | undefined) };
    for (const name of new Set([...Object.keys(form.properties ?? {}), ...Object.keys(members)])) {
      const changed = withStrange(members[name], form.properties?.[name] ?? {}, `${at}.${name}`);
      for (const each of changed) yield { ...each, value: { ...members, [name]: each.value } };
    }
    for (const each of STRANGE_IN_BODIES) yield { at, value: { ...members, [`a${each}`]: 'b' } };
  }
}

/** Every parameter of every described route that can hold a text, in the words of `strangeRequests`. Headers cannot hold a NUL byte. */
export function describedParameters(): string[] {
  const inBody = (schema: Schema, at: string): string[] => {
    const types = schema.anyOf === undefined ? [schema.type ?? 'string'].flat() : [];
    return [
      ...(types.includes('string') && schema.enum === undefined && schema.const === undefined ? [at] : []),
      ...(schema.anyOf ?? []).flatMap((form) => inBody(form, at)),
      ...(schema.items === undefined ? [] : inBody(schema.items, `${at}[]`)),
      ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => inBody(member, `${at}.${name}`)),
    ];
  };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `path ${name}`);
      const inQuery = parameters.flatMap(({ in: place, name }) => (place === 'query' ? [`query ${name}`] : []));
      const places = [...inPath, ...inQuery, ...(schema === undefined ? [] : inBody(schema, 'body'))];
      return places.map((place) => `${method.toUpperCase()} ${path}: ${place}`);
    }),
  );
}

/** The parameters that pages read. */
const PAGE_PARAMETERS = ['lang', 'theme', 'network', 'pid', 'size', 'payment_id', 'product', 'newest'];

/** The URLs with strange bytes in each of their varying parts, one at a time, and in the parameters that pages read. */
export function strangeUrls(patterns: readonly string[]): string[] {
  const filled = (pattern: string) => pattern.replace(/:\w+/g, 'x').replace('*', 'x');
  return patterns.flatMap((pattern) => {
    const parts = [...pattern.matchAll(/:\w+|\*/g)].map(([part]) => part);
    return [
      ...parts.flatMap((part) =>
        STRANGE_IN_URLS.flatMap((each) => [each, `abc${each}`].map((text) => filled(pattern.replace(part, text)))),
      ),
      ...[...PAGE_PARAMETERS, 'q%00'].map((name) => `${filled(pattern)}?${name}=%00`),
      ...PAGE_PARAMETERS.map((name) => `${filled(pattern)}?${name}=%ff`),
    ];
  });
}

const HOSTILE_TEXTS = [
  ...['', ' ', 'null', 'undefined', 'NaN', '-1', '0', '1e999', '0x10', '99999999999999999999999', '__proto__', 'x'],
  ...['constructor', "'; drop table payments; --", '%', '%00', '..', '../../etc/passwd', '\u0000', '\ud800', '😀', '‮'],
  ...['x'.repeat(5_000), 'a,'.repeat(200), '9'.repeat(79), 'iso4217/USD', 'caip19/eip155:1/slip44:60', 'eip155:1'],
  ...['2026-02-30T00:00:00Z', '9999-12-31T23:59:59Z', '0000-01-01T00:00:00Z', 'http://127.0.0.1:1/'],
];
const HOSTILE_NUMBERS = [0, -1, 1, 0.5, -0, 1e308, 2 ** 53, -(2 ** 31), 2 ** 31, 999_999_999_999];
const HOSTILE_BODIES = [
  '',
  '{',
  'null',
  '[]',
  '"text"',
  '{"amount":1,"amount":2}',
  '{"__proto__":{"isAdmin":true}}',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `{"a":${'9'.repeat(400)}}`,
  JSON.stringify({ referenceId: 'x'.repeat(70_000) }),
  Buffer.from([0xff, 0xfe, 0x00, 0x7b]),
];
const OUR_HEADERS = [
  'api-key',
  'app-id',
  'client-id',
  'merchant-id',
  'partner-id',
  'session-mode',
  'sec-fetch-site',
  'cookie',
  'pay-version',
  'idempotency-key',
  'if-none-match',
];

/** Text that `encodeURIComponent` accepts: a lone surrogate is replaced. */
function wellFormed(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed();
}

/** Text that may be a header's value. */
function headerText(value: string): string {
  return value.replace(/[^\x20-\xff]/g, '?').slice(0, 2_000);
}

/** A small generator of random numbers with a seed. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
