/** The part of OpenAPI 3.1 that the reference page reads. All other fields are ignored. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly servers?: readonly { readonly url: string }[];
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths?: Readonly<Record<string, PathItem | undefined>>;
  readonly security?: readonly SecurityRequirement[];
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly responses?: Readonly<Record<string, Response>>;
    readonly securitySchemes?: Readonly<Record<string, SecurityScheme | Reference>>;
  };
}

export interface Reference {
  readonly $ref: string;
  /** The description to show in place of that of the referenced object. */
  readonly description?: string;
}

export const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'] as const;
export type Method = (typeof METHODS)[number];

type PathItem = { readonly [method in Method]?: Operation } & {
  readonly parameters?: readonly (Parameter | Reference)[];
};

export interface Operation {
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly SecurityRequirement[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: Body | Reference;
  readonly responses?: Readonly<Record<string, Response | Reference>>;
}

/**
 * The credentials of one requirement, which are all needed together. If an operation has several requirements, a request must
 * meet one of them.
 */
export type SecurityRequirement = Readonly<Record<string, readonly string[]>>;

export interface SecurityScheme {
  readonly type: string;
  readonly description?: string;
  readonly name?: string;
  readonly in?: string;
  readonly scheme?: string;
}

export interface Examples {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, unknown>> | readonly unknown[];
}

export interface Parameter extends Examples {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly deprecated?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
}

export interface Media extends Examples {
  readonly schema?: Schema;
}

export interface Body {
  readonly description?: string;
  readonly required?: boolean;
  readonly content?: Readonly<Record<string, Media>>;
}

export interface Response {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Omit<Parameter, 'name' | 'in'> | Reference>>;
  readonly content?: Readonly<Record<string, Media>>;
}

export interface Schema extends Examples {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** The most references in a row. A document with more has a cycle. */
const MAX_HOPS = 8;

/** The object itself, or the target if it is a reference. Undefined if a reference has no target or is circular. */
export function resolve<T extends object>(document: OpenApiDocument, thing: T | Reference | undefined): T | undefined {
  let current: unknown = thing;
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    if (!isRecord(current)) return undefined;
    if (typeof current.$ref !== 'string') return current as T;
    const { $ref, description } = current;
    const target = lookUp(document, $ref);
    current = isRecord(target) && description !== undefined ? { ...target, description } : target;
  }
  return undefined;
}

/** The name of a referenced schema. Undefined if the reference does not lead to a schema under `components.schemas`. */
export function schemaNameOf(document: OpenApiDocument, reference: string): string | undefined {
  const prefix = '#/components/schemas/';
  if (!reference.startsWith(prefix)) return undefined;
  const name = unescapePointer(reference.slice(prefix.length));
  return Object.hasOwn(document.components?.schemas ?? {}, name) ? name : undefined;
}

export function lookUp(document: OpenApiDocument, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  let current: unknown = document;
  for (const key of reference.slice(2).split('/').map(unescapePointer)) {
    if (!isRecord(current) || !Object.hasOwn(current, key)) return undefined;
    current = current[key];
  }
  return current;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The author's first example, in any of the three places that OpenAPI allows. */
export function statedExample(holder: Examples): { readonly value: unknown } | undefined {
  if (holder.example !== undefined) return { value: holder.example };
  if (Array.isArray(holder.examples)) return holder.examples.length > 0 ? { value: holder.examples[0] } : undefined;
  if (!isRecord(holder.examples)) return undefined;
  const first = Object.values(holder.examples)[0];
  return isRecord(first) && 'value' in first ? { value: first.value } : undefined;
}

function unescapePointer(part: string): string {
  const unescaped = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(unescaped);
  } catch {
    return unescaped;
  }
}
