import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { HTTPMethods, InjectOptions, LightMyRequestResponse } from 'fastify';
import { expandReferences } from '../scripts/expand-references.ts';

interface Operation {
  deprecated?: boolean;
  parameters?: { in: string; name: string; required?: boolean; example?: unknown }[];
  requestBody?: { content: Record<string, { schema: { properties?: object }; example?: unknown }> };
  responses: Record<string, { content?: Record<string, { schema: object; example?: unknown }> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
}

/** The committed description of the API. */
export const openApi = JSON.parse(readFileSync(join(import.meta.dirname, '../openapi.json'), 'utf8'));
/** The same with each reference replaced by its target. */
export const expandedApi = expandReferences(openApi);
const document: Document = expandedApi;
const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
const validators = new Map<string, ValidateFunction>();

export interface DescribedOperation {
  readonly method: HTTPMethods & InjectOptions['method'];
  /** With the varying parts in braces. */
  readonly path: string;
  /** With `x` for each varying part. */
  readonly url: string;
  /** Names of query parameters, and of members of the body. */
  readonly parameters: readonly string[];
  /** Names of required headers. */
  readonly requiredHeaders: readonly string[];
  /** The example of its body. */
  readonly example: object | undefined;
  readonly members: readonly string[];
}

/** Every described operation under the prefix. */
export function operations(prefix: string): DescribedOperation[] {
  return Object.entries(document.paths)
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
        method: method.toUpperCase() as DescribedOperation['method'],
        path,
        url: path.replace(/\{\w+\}/g, 'x'),
        parameters: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
        requiredHeaders: parameters
          .filter((parameter) => parameter.in === 'header' && parameter.required === true)
          .map(({ name }) => name),
        example: requestBody?.content['application/json']?.example as object | undefined,
        members: Object.keys(requestBody?.content['application/json']?.schema.properties ?? {}),
      })),
    );
}

/** The problems of the examples: those of deprecated operations may be missing, and none may break its schema. */
export function exampleProblems(): string[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { deprecated, parameters = [], requestBody, responses }]) => {
      const success = Object.keys(responses).find((status) => status.startsWith('2')) ?? '';
      const bodies = { body: requestBody?.content, answer: responses[success]?.content };
      const missing = parameters.filter((each) => each.in === 'path' && each.example === undefined);
      const problems = Object.entries(bodies).flatMap(([what, content]) => {
        const { schema, example } = content?.['application/json'] ?? {};
        if (schema === undefined) return [];
        if (example === undefined) return [`has no example of its ${what}`];
        const validate = ajv.compile(schema);
        return validate(example) ? [] : [`has a wrong example of its ${what}: ${ajv.errorsText(validate.errors)}`];
      });
      const absent = missing.map(({ name }) => `has no example of ${name}`);
      const found = [...absent, ...problems].filter((problem) => deprecated !== true || problem.includes('wrong'));
      return found.map((problem) => `${method} ${path} ${problem}`);
    }),
  );
}

/** Throws when `openapi.json` does not describe the answer: route, status and body. */
export async function checkResponse(
  request: InjectOptions & { url: string },
  response: LightMyRequestResponse,
): Promise<void> {
  const method = (request.method ?? 'GET').toLowerCase();
  const path = pathOf(new URL(request.url, 'http://localhost').pathname);
  const operation = path === undefined ? undefined : document.paths[path]?.[method];
  if (operation === undefined) return checkOutside(method, request.url, response);
  const described = operation.responses[response.statusCode];
  const name = `${method} ${path} → ${response.statusCode}`;
  if (described === undefined) throw new Error(`openapi.json does not describe ${name}: ${response.body}`);
  const schema = described.content?.['application/json']?.schema;
  if (schema === undefined) return;
  const validate = validators.get(name) ?? ajv.compile(schema);
  validators.set(name, validate);
  if (!validate(response.json())) {
    throw new Error(`${name} is not as described: ${ajv.errorsText(validate.errors)} in ${response.body}`);
  }
}

/** Undescribed requests may only get the errors common to every route. */
function checkOutside(method: string, url: string, response: LightMyRequestResponse): void {
  const isExpected = [400, 404, 405].includes(response.statusCode) || !url.startsWith('/v1/');
  if (!isExpected)
    throw new Error(`openapi.json does not know ${method} ${url}, which answered ${response.statusCode}.`);
}

function pathOf(pathname: string): string | undefined {
  const parts = pathname.split('/');
  const score = (path: string) => path.split('/').filter((part) => !part.startsWith('{')).length;
  return Object.keys(document.paths)
    .filter((path) => {
      const pattern = path.split('/');
      return (
        pattern.length === parts.length && pattern.every((part, index) => part.startsWith('{') || part === parts[index])
      );
    })
    .sort((a, b) => score(b) - score(a))[0];
}
