import { isDeepStrictEqual } from 'node:util';
import { type Json, mapValues, shareParts } from './openapi-shared.ts';

/** Keywords about one use of a schema. They stand beside a reference if their values differ from those of the definition. */
const WORDS: readonly string[] = ['description', 'deprecated', 'default', 'example', 'examples'];
/** Keywords whose values are data, so that nothing in them is a schema. */
const DATA: readonly string[] = ['default', 'example', 'examples', 'enum', 'const', 'required'];

/**
 * The document with every named schema once, under `components`, and a reference in each place that uses it. The name
 * of a schema is its `title`; a JSON body without a title is named after its operation. Routes validate and serialise
 * with their whole schemas: the references exist in the document alone.
 */
export function withComponents(document: Json): Json {
  const components = document.components as { readonly schemas?: Readonly<Record<string, Json>> };
  const schemas: Record<string, Json> = {};
  for (const [name, schema] of Object.entries(components.schemas ?? {})) extract({ ...schema, title: name }, schemas);
  const describe = (items: unknown) =>
    mapValues(items, (item) => mapValues(item, (operation) => extract(withBodyNames(operation as Json), schemas)));
  const { operations, parameters, responses } = shareParts({
    paths: describe(document.paths),
    webhooks: describe(document.webhooks),
  });
  return {
    ...document,
    ...operations,
    components: {
      ...components,
      schemas: sorted(schemas),
      parameters: sorted(parameters),
      responses: sorted(responses),
    },
  };
}

/** The part of the document with references in place of its named schemas, which are added to `schemas`. */
function extract(part: unknown, schemas: Record<string, Json>): unknown {
  if (Array.isArray(part)) return part.map((each) => extract(each, schemas));
  if (typeof part !== 'object' || part === null) return part;
  const visited: Json = Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (key === 'properties') return [key, mapValues(value, (property) => extract(property, schemas))];
      return [key, DATA.includes(key) ? value : extract(value, schemas)];
    }),
  );
  return typeof visited.title === 'string' ? referenceTo(visited.title, visited, schemas) : visited;
}

function referenceTo(name: string, { title: _, ...used }: Json, schemas: Record<string, Json>): Json {
  const types = [used.type].flat();
  const isNullable = types.length > 1 && types.includes('null');
  const schema = isNullable ? withoutNull(used) : used;
  const known = schemas[name] ?? schema;
  schemas[name] = known;
  if (!isDeepStrictEqual(shapeOf(known), shapeOf(schema))) throw new Error(`Two schemas are named ${name}.`);
  const reference = { $ref: `#/components/schemas/${name}` };
  const words = WORDS.filter((word) => schema[word] !== undefined && !isDeepStrictEqual(schema[word], known[word]));
  const own = Object.fromEntries(words.map((word) => [word, schema[word]]));
  return isNullable ? { anyOf: [reference, { type: 'null' }], ...own } : { ...reference, ...own };
}

/** The schema without null among its types and values. */
function withoutNull({ type, enum: values, ...rest }: Json): Json {
  const types = [type].flat().filter((each) => each !== 'null');
  return {
    type: types.length === 1 ? types[0] : types,
    ...(Array.isArray(values) && { enum: values.filter((value) => value !== null) }),
    ...rest,
  };
}

function shapeOf(schema: Json): Json {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !WORDS.includes(key)));
}

/**
 * Names the bodies of the request and of the answers after the operation: `createMerchant` has `CreateMerchantRequest` and
 * `CreateMerchantResponse`. A schema with a title keeps it.
 */
function withBodyNames(operation: Json): Json {
  const { operationId, requestBody, responses } = operation;
  const name = String(operationId).replace(/^[a-z]/, (letter) => letter.toUpperCase());
  return {
    ...operation,
    ...(requestBody !== undefined && { requestBody: withTitle(requestBody, `${name}Request`) }),
    responses: mapValues(responses, (response, status) =>
      status.startsWith('2') ? withTitle(response, `${name}Response`) : response,
    ),
  };
}

function withTitle(body: unknown, title: string): unknown {
  const { content } = body as { readonly content?: Readonly<Record<string, { readonly schema?: Json }>> };
  const media = content?.['application/json'];
  if (media?.schema?.properties === undefined) return body;
  const named = { ...media, schema: { title, ...media.schema } };
  return { ...(body as Json), content: { ...content, 'application/json': named } };
}

function sorted(record: Json): Json {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
