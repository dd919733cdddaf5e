import { isUtf8 } from 'node:buffer';
import { ApiError } from '../errors.ts';
import type { App } from './deps.ts';

/**
 * How requests are read: JSON bodies strictly, query strings by their schema.
 */
export function readRequests(app: App): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['text/plain', 'application/json']);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    // Clients that always send the header send it with an empty body too, on DELETE for one.
    if (bytes.length === 0) return done(null, undefined);
    if (!isUtf8(bytes)) return done(new ApiError('invalid_params', 'The body is not valid UTF-8.'));
    parseJson(request, bytes.toString(), (error, value) => {
      if (error) done(new ApiError('invalid_params', 'The body is not valid JSON.'));
      else done(null, value);
    });
  });

  app.addHook('preValidation', async (request) => {
    const schema = request.routeOptions.schema?.querystring as QuerySchema | undefined;
    if (schema?.properties === undefined) return;
    const query = request.query as Record<string, unknown>;
    for (const [name, { type }] of Object.entries(schema.properties)) {
      if (Object.hasOwn(query, name)) query[name] = fromText(type, query[name]);
    }
  });
}

interface QuerySchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string | readonly string[] }>>;
}

/**
 * A query string is all text. Only plain decimal numbers become numbers (`0x10`, `1e3` and ` 5` stay text, and the
 * schema refuses them), and a repeated parameter stays a list, which a schema for one value refuses.
 */
function fromText(type: string | readonly string[] | undefined, value: unknown): unknown {
  const takes = (name: string) => type === name || (Array.isArray(type) && type.includes(name));
  if (takes('array')) return Array.isArray(value) ? value : [value];
  if (typeof value !== 'string') return value;
  if (takes('integer') && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (takes('boolean') && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
