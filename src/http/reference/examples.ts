import type { Endpoint } from './endpoints.ts';
import {
  type Body,
  type Media,
  type OpenApiDocument,
  type Parameter,
  resolve,
  type Schema,
  type SecurityRequirement,
  type SecurityScheme,
  statedExample,
} from './openapi-document.ts';
import { mapValuesOf, propertiesOf, type Shape, shapeOf, startWalk, stepInto, type Walk } from './schema-shape.ts';

export interface Example {
  readonly value: unknown;
  /** True if the schema states some of the example's values. False if all of them were invented. */
  readonly isStated: boolean;
}

/** Limits of an invented example. Larger examples would not help a reader. */
const MAX_DEPTH = 6;
const MAX_VALUES = 300;

const DEFAULT_SERVER = 'http://localhost:8080';

const INVENTED_BY_FORMAT: Record<string, string> = {
  'date-time': '2026-01-31T12:00:00.000Z',
  date: '2026-01-31',
  email: 'name@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

/** The author's example of a body. Without one, it is composed from the examples, defaults and limits of the fields. */
export function exampleOfMedia(document: OpenApiDocument, media: Media): Example {
  const stated = statedExample(media);
  return stated === undefined ? exampleOf(document, media.schema) : { value: stated.value, isStated: true };
}

function exampleOf(document: OpenApiDocument, schema: Schema | undefined): Example {
  return exampleAt(document, schema, startWalk(MAX_DEPTH, MAX_VALUES));
}

function exampleAt(document: OpenApiDocument, schema: Schema | undefined, walk: Walk): Example {
  const shape = shapeOf(document, schema);
  const stated = statedExample(shape.schema);
  if (stated !== undefined) return { value: stated.value, isStated: true };
  if (shape.schema.default !== undefined) return { value: shape.schema.default, isStated: true };
  if (shape.values.length > 0) return invented(shape.values[0]);
  const inside = stepInto(walk, shape);
  if (inside === undefined) return invented(null);
  const filled = filledExample(document, shape, inside);
  return shape.isNullable && !filled.isStated ? invented(null) : filled;
}

function filledExample(document: OpenApiDocument, shape: Shape, walk: Walk): Example {
  const { schema, types, variants } = shape;
  if (variants.length > 0) {
    const options = variants.map((variant) => exampleAt(document, variant, walk));
    return options.find((option) => option.isStated) ?? options[0] ?? invented(null);
  }
  if (types.includes('array')) {
    const item = exampleAt(document, schema.items, walk);
    return { value: [item.value], isStated: item.isStated };
  }
  if (types.includes('object') || propertiesOf(shape).length > 0) return exampleObject(document, shape, walk);
  if (types.includes('boolean')) return invented(false);
  if (types.includes('integer') || types.includes('number')) return invented(schema.minimum ?? 0);
  return invented(INVENTED_BY_FORMAT[schema.format ?? ''] ?? 'string');
}

/** An example of an object, with all required fields, and with those optional fields for which the schema states an example. */
function exampleObject(document: OpenApiDocument, shape: Shape, walk: Walk): Example {
  const required = new Set(shape.schema.required);
  const values = mapValuesOf(shape);
  const entries = propertiesOf(shape)
    .map(([name, property]) => ({ name, ...exampleAt(document, property, walk) }))
    .filter((entry) => entry.isStated || required.has(entry.name));
  if (values !== undefined) entries.push({ name: 'key', ...exampleAt(document, values, walk) });
  return {
    value: Object.fromEntries(entries.map((entry) => [entry.name, entry.value])),
    isStated: entries.some((entry) => entry.isStated),
  };
}

function invented(value: unknown): Example {
  return { value, isStated: false };
}

export function serverUrl(document: OpenApiDocument): string {
  const url = document.servers?.[0]?.url ?? '';
  return (/^https?:\/\//.test(url) ? url : DEFAULT_SERVER + url).replace(/\/+$/, '');
}

/** A curl command for the endpoint, which runs as soon as its `$VARIABLES` are set. */
export function curlOf(document: OpenApiDocument, endpoint: Endpoint): string {
  const { method, path, operation, parameters } = endpoint;
  const lines = [`curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} ${urlOf(document, path, parameters)}`];
  const credentials = credentialsOf(document, operation.security ?? document.security ?? []);
  for (const { header, value } of credentials) lines.push(`-H ${quote([`${header}: `, ...value])}`);
  for (const parameter of parameters) {
    const isCredential = credentials.some(({ header }) => header.toLowerCase() === parameter.name.toLowerCase());
    if (parameter.in === 'header' && parameter.required === true && !isCredential) {
      lines.push(`-H ${quote([`${parameter.name}: `, exampleOrVariable(document, parameter)])}`);
    }
  }
  const [type, media] = Object.entries(resolve<Body>(document, operation.requestBody)?.content ?? {})[0] ?? [];
  if (type !== undefined && media !== undefined) {
    const { value } = exampleOfMedia(document, media);
    const isText = typeof value === 'string' && !type.includes('json');
    // JSON may have line breaks between its tokens, so the body can be indented like its command.
    const text = isText ? value : (JSON.stringify(value, null, 2) ?? '').replaceAll('\n', '\n  ');
    lines.push(`-H ${quote([`Content-Type: ${type}`])}`, `-d ${quote([text])}`);
  }
  return lines.join(' \\\n  ');
}

type ShellPart = string | { readonly variable: string };

function urlOf(document: OpenApiDocument, path: string, parameters: readonly Parameter[]): string {
  const parts: ShellPart[] = [serverUrl(document)];
  for (const [index, piece] of path.split(/\{([^{}]+)\}/).entries()) {
    if (index % 2 === 0) {
      parts.push(piece);
      continue;
    }
    const parameter = parameters.find((candidate) => candidate.in === 'path' && candidate.name === piece);
    parts.push(encoded(parameter === undefined ? { variable: piece } : exampleOrVariable(document, parameter)));
  }
  const required = parameters.filter((parameter) => parameter.in === 'query' && parameter.required === true);
  for (const [index, parameter] of required.entries()) {
    parts.push(`${index === 0 ? '?' : '&'}${encodeURIComponent(parameter.name)}=`);
    parts.push(encoded(exampleOrVariable(document, parameter)));
  }
  return quote(parts);
}

function encoded(part: ShellPart): ShellPart {
  return typeof part === 'string' ? encodeURIComponent(part) : part;
}

function exampleOrVariable(document: OpenApiDocument, parameter: Parameter): ShellPart {
  const stated = statedExample(parameter);
  const example = stated === undefined ? exampleOf(document, parameter.schema) : { ...stated, isStated: true };
  const isUsable = example.isStated && ['string', 'number', 'boolean'].includes(typeof example.value);
  return isUsable ? String(example.value) : { variable: parameter.name };
}

/** The headers with the credentials of the first security requirement. */
function credentialsOf(
  document: OpenApiDocument,
  security: readonly SecurityRequirement[],
): readonly { readonly header: string; readonly value: readonly ShellPart[] }[] {
  return Object.keys(security[0] ?? {}).flatMap((name) => {
    const scheme = resolve<SecurityScheme>(document, document.components?.securitySchemes?.[name]);
    if (scheme?.type === 'http') {
      const word = scheme.scheme?.toLowerCase() === 'basic' ? 'Basic ' : 'Bearer ';
      return [{ header: 'Authorization', value: [word, { variable: 'TOKEN' }] }];
    }
    const isHeader = scheme?.in === 'header' && scheme.name !== undefined;
    return isHeader ? [{ header: scheme.name, value: [{ variable: scheme.name }] }] : [];
  });
}

/**
 * Quotes text for a shell. Single quotes keep the shell from expanding the text. Double quotes are used only for text with a
 * variable.
 */
function quote(parts: readonly ShellPart[]): string {
  if (parts.every((part) => typeof part === 'string')) {
    const text = parts.join('');
    return /^[\w:/.=%-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
  }
  const quoted = parts.map((part, index) => {
    if (typeof part === 'string') return part.replace(/[\\"$`]/g, '\\$&');
    const next = parts[index + 1];
    const name = variableName(part.variable);
    return typeof next === 'string' && /^\w/.test(next) ? `\${${name}}` : `$${name}`;
  });
  return `"${quoted.join('')}"`;
}

function variableName(name: string): string {
  const snake = name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').replace(/[^A-Za-z0-9]+/g, '_');
  return /^[A-Za-z_]/.test(snake) ? snake.toUpperCase() : `_${snake}`.toUpperCase();
}
