import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { ChainUnavailableError } from '../chains/chain-errors.ts';
import { ApiError, type Issue, validationError } from '../errors.ts';
import type { Log } from '../runtime/world.ts';
import { databaseFault } from '../store/plumbing/database.ts';
import { errorPage } from './site/error-page.ts';
import { type SiteDeps, sendSitePage } from './site/send-site-page.ts';
import { wantsPage } from './site/wants-page.ts';

/** The only place where an error becomes an HTTP answer: a page for people, JSON for programs. */
export function errorSender(deps: SiteDeps & { log: Log }) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> => {
    const { status, message, body, retryAfterS } = toApiError(error);
    request.refusal = body;
    if (status >= 500) deps.log.error({ requestId: request.id, err: error }, 'request failed');
    if (retryAfterS !== undefined) reply.header('Retry-After', String(retryAfterS));
    if (wantsPage(request)) {
      const page = errorPage({ status, message, requestId: request.id });
      return sendSitePage(deps, { request, reply: reply.code(status), page });
    }
    return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
  };
}

export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const { validation, validationContext, code } = error as Partial<FastifyError>;
  if (validation !== undefined) return validationError(issuesOf(validation, validationContext ?? 'body'));
  const unreadable = UNREADABLE[code ?? ''];
  if (unreadable !== undefined)
    return new ApiError('invalid_params', unreadable.message, { status: unreadable.status });
  const isUnavailable =
    databaseFault(error) !== undefined || error instanceof ChainUnavailableError || code === 'FST_ERR_HANDLER_TIMEOUT';
  if (isUnavailable)
    return new ApiError('internal_error', 'The service is briefly unavailable. Try again.', UNAVAILABLE);
  return new ApiError('internal_error', 'Something went wrong on our side. Quote the Request-Id when you report it.');
}

/** The answer of a node that cannot serve at present. The client tries again soon. */
export const UNAVAILABLE = { status: 503, retryAfterS: 1 };

const UNREADABLE: Readonly<Record<string, { status: number; message: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { status: 413, message: 'The body is larger than 64 KiB.' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { status: 415, message: 'The body must be application/json.' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    status: 400,
    message: 'The length of the body differs from its Content-Length header.',
  },
  FST_ERR_CTP_INVALID_JSON_BODY: { status: 400, message: 'The body is not valid JSON.' },
  FST_ERR_BAD_URL: { status: 400, message: 'The path is not a valid URL path.' },
  FST_ERR_MAX_PARAM_LENGTH: { status: 404, message: 'There is no such route.' },
};

/**
 * The validation errors as issues, one for each invalid field. Further errors of a field are left out, because they would only
 * repeat the first.
 */
export function issuesOf(errors: readonly FastifySchemaValidationError[], context: string): Issue[] {
  const issues = new Map<string, Issue>();
  for (const { keyword, instancePath, schemaPath, params, message, ...rest } of errors) {
    // The failure of an `anyOf` is reported by the sentence in its `x-rule`. Errors of its branches are skipped, because they
    // would read as if every branch were required.
    if (/\/anyOf\/\d+\//.test(schemaPath)) continue;
    const path = fieldOf(instancePath);
    const { missingProperty: missing, unknownField } = params as { missingProperty?: string; unknownField?: string };
    const field = [path, missing ?? unknownField ?? ''].filter((part) => part !== '').join('.');
    const rule = (rest as { parentSchema?: { 'x-rule'?: string } }).parentSchema?.['x-rule'];
    const text =
      missing !== undefined ? 'is required' : RULED.has(keyword) && rule ? rule : sentence(keyword, params, message);
    const name = field === '' ? context : field;
    if (!issues.has(name)) issues.set(name, { field: name, message: text });
  }
  return [...issues.values()];
}

/** Keywords whose own message would show only a pattern. The schema has the rule as a sentence in `x-rule`. */
const RULED = new Set(['pattern', 'anyOf', 'not', 'minItems']);

function sentence(
  keyword: string,
  params: FastifySchemaValidationError['params'],
  message: string | undefined,
): string {
  if (keyword === 'type') return `must be ${[params.type].flat().join(' or ')}`;
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as string[]).join(', ')}`;
  return (message ?? 'is not valid').replace('must NOT have', 'must not have');
}

/** The field's name for a JSON pointer: `/settlements/0/asset` becomes `settlements[0].asset`. */
function fieldOf(instancePath: string): string {
  return instancePath
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '');
}
