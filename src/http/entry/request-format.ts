import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { FastifyRequest, RequestPayload, RouteOptions } from 'fastify';
import { ApiError } from '../../errors.ts';
import type { App } from '../deps.ts';
import { bodyShapeProblem } from './body-shape.ts';
import { isOwnRoute } from './specified-routes.ts';
import { withNames } from './unknown-fields.ts';

/** Reads JSON bodies strictly and query strings by their schema, and refuses misspelt fields. */
export function readRequests(app: App): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['text/plain', 'application/json']);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    // Some clients always send the content type, also with an empty body, for example on DELETE.
    if (bytes.length === 0 || request.routeOptions.config.ignoresBody) return done(null, undefined);
    if (!isUtf8(bytes)) return done(new ApiError('invalid_params', 'The body is not valid UTF-8.'));
    const problem = bodyShapeProblem(bytes);
    if (problem !== undefined) return done(new ApiError('invalid_params', problem));
    const text = bytes.toString();
    parseJson(request, text, (error, value) => {
      if (error) done(new ApiError('invalid_params', isJson(text) ? FORBIDDEN_MEMBER : 'The body is not valid JSON.'));
      else done(null, value);
    });
  });

  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, _body, done) => {
    if (request.routeOptions.config.ignoresBody) done(null, undefined);
    else done(new ApiError('invalid_params', 'The body must be application/json.', { status: 415 }));
  });

  app.addHook('onRoute', (route) => {
    if (isRead(route)) return;
    route.preParsing = [...[route.preParsing ?? []].flat(), endEmptyBody];
  });

  app.addHook('onRoute', (route) => {
    const isOwn = isOwnRoute(route);
    const { querystring = isOwn ? NO_FIELDS : undefined } = route.schema ?? {};
    const { body = isOwn && takesBody(route) ? NO_BODY : undefined } = route.schema ?? {};
    if (body !== undefined) route.schema = { ...route.schema, body: withNames(body, { isOwn, isQuery: false }) };
    if (querystring !== undefined) {
      route.schema = { ...route.schema, querystring: withNames(querystring, { isOwn, isQuery: true }) };
    }
  });

  app.addHook('onRoute', (route) => {
    const { properties } = (route.schema?.querystring ?? {}) as QuerySchema;
    if (properties === undefined) return;
    const types = Object.entries(properties).map(([name, { type }]) => ({ name, type }));
    const readQuery = (request: FastifyRequest, _reply: unknown, done: (error?: Error) => void) => {
      if (!request.url.includes('?')) return done();
      try {
        refuseBrokenEncoding(request.url);
      } catch (error) {
        return done(error as Error);
      }
      const query = request.query as Record<string, unknown>;
      for (const { name, type } of types) if (Object.hasOwn(query, name)) query[name] = fromText(type, query[name]);
      done();
    };
    route.preValidation = [readBrackets, ...[route.preValidation ?? []].flat(), readQuery];
  });
}

const NO_FIELDS = { type: 'object', properties: {} };

/**
 * The schema for the body of our own routes that declare no body: the body must be absent or empty. It is not part of the
 * published description of the API.
 */
export const NO_BODY = withNames({ ...NO_FIELDS, type: ['object', 'null'] }, { isOwn: true, isQuery: false });

function takesBody(route: RouteOptions): boolean {
  return !route.config?.ignoresBody && !isRead(route);
}

function isRead({ method }: RouteOptions): boolean {
  return [method].flat().every((name) => name === 'GET' || name === 'HEAD');
}

/** Reads a repeated parameter that is written as `status[]=a&status[]=b` or `status[0]=a`, as many clients do. */
function readBrackets(request: FastifyRequest, _reply: unknown, done: () => void): void {
  const query = request.query as Record<string, unknown>;
  for (const written of Object.keys(query)) {
    const name = /^([^[]+)\[\d{0,4}\]$/.exec(written)?.[1];
    if (name === undefined) continue;
    const values = [Object.hasOwn(query, name) ? query[name] : [], query[written]].flat();
    query[name] = values.length === 1 ? values[0] : values;
    delete query[written];
  }
  done();
}

const FORBIDDEN_MEMBER = 'The body has a member named __proto__ or constructor.prototype: no request has one.';

/**
 * True if the text is JSON. The strict parser refuses invalid JSON and also some names of members, and its error does not show
 * which of the two it found.
 */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Gives a request without a body an empty stream. With `optimizeEmptyRequests`, the request's own stream has already ended, and
 * the parser would wait for its end forever.
 */
function endEmptyBody({ raw }: FastifyRequest, _reply: unknown, body: RequestPayload, done: PayloadDone): void {
  done(null, raw.readableEnded ? Readable.from([]) : body);
}

type PayloadDone = (error: null, body: RequestPayload) => void;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True if the route reads no body. Then a body of any content type is accepted and ignored. */
    ignoresBody?: true;
  }
}

/** Refuses a query that is not percent-encoded UTF-8. Without this check, such text would be used undecoded. */
function refuseBrokenEncoding(url: string): void {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1));
  } catch {
    throw new ApiError('invalid_params', 'The query is not percent-encoded UTF-8.');
  }
}

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string | readonly string[] }>>;
}

/**
 * Converts the text of a query parameter to the type of its schema. Plain decimal numbers become numbers; `0x10`, `1e3` and ` 5`
 * stay text, and the schema refuses them. A repeated parameter stays a list, which a schema for one value refuses.
 */
function fromText(type: string | readonly string[] | undefined, value: unknown): unknown {
  const takes = (name: string) => type === name || (Array.isArray(type) && type.includes(name));
  if (takes('array')) return Array.isArray(value) ? value : [value];
  if (typeof value !== 'string') return value;
  if (takes('null') && (value === '' || value === 'null')) return null;
  if (takes('integer') && /^-?\d{1,19}$/.test(value)) return Number(value);
  if (takes('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
