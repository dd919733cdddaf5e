import { anchorsOf } from './endpoints.ts';
import { type Content, type Html, html, join, prose } from './html.ts';
import { isRecord, type OpenApiDocument, type Schema, schemaNameOf } from './openapi-document.ts';
import { mapValuesOf, propertiesOf, type Shape, shapeOf, startWalk, stepInto, type Walk } from './schema-shape.ts';

/** Facts about the whole document that the rendering of a part needs. */
export interface Page {
  readonly document: OpenApiDocument;
  readonly schemaAnchors: ReadonlyMap<string, string>;
  readonly schemeAnchors: ReadonlyMap<string, string>;
  /** True if the page shows a response, where optional fields are marked. In a request, required fields are marked. */
  readonly isAnswer: boolean;
}

export interface Field {
  readonly name: string;
  readonly schema: Schema | undefined;
  readonly isRequired: boolean;
  readonly description?: string | undefined;
  readonly isDeprecated?: boolean | undefined;
  readonly example?: unknown;
}

/** Levels of nested fields that an operation shows. Deeper levels are a link to the shared schema, or left out. */
const MAX_DEPTH = 5;
/** The most schemas opened in one block: far more than any body of this API has, far fewer than would slow a browser. */
const MAX_OPENED = 200;
/** A nested object with at most this many fields is not collapsed. */
const SMALL = 4;
/** The longest list of allowed values that is not collapsed. */
const MANY = 12;

export function openPage(document: OpenApiDocument): Page {
  return {
    document,
    schemaAnchors: anchorsOf('schema', sharedSchemas(document)),
    schemeAnchors: anchorsOf('auth', Object.keys(document.components?.securitySchemes ?? {})),
    isAnswer: false,
  };
}

/**
 * The names of the schemas that have a section of their own on the page. A schema with only one use has none: it is shown in full
 * where it is used.
 */
function sharedSchemas(document: OpenApiDocument): readonly string[] {
  const uses = new Map<string, number>();
  const count = (part: unknown): void => {
    if (Array.isArray(part)) for (const each of part) count(each);
    if (!isRecord(part)) return;
    const name = typeof part.$ref === 'string' ? schemaNameOf(document, part.$ref) : undefined;
    if (name !== undefined) uses.set(name, (uses.get(name) ?? 0) + 1);
    for (const each of Object.values(part)) count(each);
  };
  count(document);
  return Object.keys(document.components?.schemas ?? {}).filter((name) => uses.get(name) !== 1);
}

/** Renders a body: its fields if it is an object, else its type and its contents. */
export function renderSchema(page: Page, schema: Schema | undefined): Content {
  return renderTop(page, shapeOf(page.document, schema), startWalk(MAX_DEPTH, MAX_OPENED));
}

/** Renders a shared schema at its definition: only one level, because the schemas that it refers to are on the same page. */
export function renderSharedSchema(page: Page, name: string): Content {
  const shape = shapeOf(page.document, page.document.components?.schemas?.[name]);
  const known = [...page.schemaAnchors.keys()];
  return renderTop(page, shape, { ...startWalk(MAX_DEPTH, MAX_OPENED), names: known });
}

export function renderFields(page: Page, fields: readonly Field[]): Html {
  const walk = startWalk(MAX_DEPTH, MAX_OPENED);
  return html`<dl class="fields">${fields.map((field) => renderField(page, field, walk))}</dl>`;
}

export function schemaName(page: Page, name: string): string {
  const { title } = page.document.components?.schemas?.[name] ?? {};
  return typeof title === 'string' ? title : name;
}

export function renderType(page: Page, schema: Schema | undefined): Content {
  return typeOf(page, shapeOf(page.document, schema), MAX_DEPTH);
}

function renderTop(page: Page, shape: Shape, walk: Walk): Content {
  // The walk stops at schemas that it has already entered. The top schema may be one of them, so it is entered without that check.
  const inside = { ...walk, names: [...walk.names, ...shape.names] };
  const hasFields = propertiesOf(shape).length > 0;
  const type = hasFields ? [] : [typeOf(page, { ...shape, names: [] }, MAX_DEPTH)];
  const kind = [...type, ...limitsOf(shape.schema)];
  return [
    kind.length > 0 && html`<p class="kind">${join(kind, ' · ')}</p>`,
    valuesLine(page, shape),
    hasFields
      ? [fieldsOf(page, shape, inside), variantsOf(page, shape, inside)]
      : childrenOf(page, shape, inside, 'body', true),
  ];
}

function fieldsOf(page: Page, shape: Shape, walk: Walk): Html {
  const required = new Set(shape.schema.required);
  const properties = propertiesOf(shape);
  const rows = properties.map(([name, schema]) =>
    renderField(page, { name, schema, isRequired: required.has(name) }, walk, properties.length === 1),
  );
  return html`<dl class="fields">${rows}</dl>`;
}

function renderField(page: Page, field: Field, walk: Walk, isAlone = false): Html {
  const shape = shapeOf(page.document, field.schema);
  const { schema } = shape;
  const inside = stepInto(walk, shape);
  const isDeprecated = field.isDeprecated === true || schema.deprecated === true;
  const marks = [
    page.isAnswer ? !field.isRequired && 'optional' : field.isRequired && html`<span class="required">required</span>`,
    isDeprecated && html`<span class="deprecated">deprecated</span>`,
  ].filter((mark) => mark !== false);
  const about = [
    prose(field.description ?? schema.description),
    valuesLine(page, shape),
    schema.pattern !== undefined && html`<p class="note">Pattern <code>${schema.pattern}</code></p>`,
    field.example !== undefined && html`<p class="note">Example ${jsonCode(field.example)}</p>`,
    inside !== undefined && childrenOf(page, shape, inside, field.name, isAlone),
  ].filter((part) => part !== false && part !== undefined && !(Array.isArray(part) && part.length === 0));
  const kind = join(
    [typeOf(page, shape, MAX_DEPTH), ...limitsOf(schema), ...marks],
    html`<span class="dot"> · </span>`,
  );
  return html`<div class="field"><dt><code>${field.name}</code></dt><dd class="kind">${kind}</dd>${
    about.length > 0 && html`<dd class="about">${about}</dd>`
  }</div>
`;
}

/** Renders the fields inside a field, collapsed unless they are few, and the alternatives of the field. */
function childrenOf(page: Page, shape: Shape, walk: Walk, name: string, isAlone: boolean): Content {
  const inner = innerObject(page, shape, walk);
  if (inner === undefined) return variantsOf(page, shape, walk);
  const count = propertiesOf(inner.shape).length;
  const isOpen = isAlone || count <= SMALL;
  const label = html`${count} ${count === 1 ? 'field' : 'fields'}<span class="unseen"> of ${name}</span>`;
  const fields = [fieldsOf(page, inner.shape, inner.walk), variantsOf(page, inner.shape, inner.walk)];
  return html`<details class="children"${isOpen && html` open`}><summary>${label}</summary>${fields}</details>`;
}

function variantsOf(page: Page, shape: Shape, walk: Walk): Content {
  const variants = shape.variants.filter((variant) => isInformative(page, variant));
  if (variants.length === 0) return undefined;
  return html`<ul class="variants">${variants.map((variant) => renderVariant(page, variant, walk))}</ul>`;
}

function renderVariant(page: Page, schema: Schema, walk: Walk): Content {
  const shape = shapeOf(page.document, schema);
  const inside = stepInto(walk, shape);
  if (inside === undefined) return html`<li>${typeOf(page, shape, MAX_DEPTH)}</li>`;
  const name = schema.title ?? 'this form';
  const kind = join([schema.title ?? typeOf(page, shape, MAX_DEPTH), ...limitsOf(shape.schema)], ' · ');
  const about = [prose(shape.schema.description), valuesLine(page, shape)];
  return html`<li><p class="kind">${kind}</p>${about}${childrenOf(page, shape, inside, name, false)}</li>`;
}

/** True if an alternative shows more than its type. */
function isInformative(page: Page, variant: Schema): boolean {
  const shape = shapeOf(page.document, variant);
  const isCompound = propertiesOf(shape).length > 0 || shape.types.includes('array') || shape.variants.length > 0;
  return isCompound || shape.values.length > 1 || shape.schema.description !== undefined;
}

/** The object inside nested arrays and maps. Undefined if there is none. */
function innerObject(page: Page, outer: Shape, start: Walk): { shape: Shape; walk: Walk } | undefined {
  let shape = outer;
  let walk: Walk | undefined = start;
  while (walk !== undefined) {
    if (propertiesOf(shape).length > 0) return { shape, walk };
    const inner: Schema | undefined = shape.types.includes('array') ? shape.schema.items : mapValuesOf(shape);
    if (inner === undefined) return undefined;
    shape = shapeOf(page.document, inner);
    walk = stepInto(walk, shape);
  }
  return undefined;
}

function typeOf(page: Page, shape: Shape, depth: number): Content {
  return [plainTypeOf(page, shape, depth), shape.isNullable && ' or null'];
}

function plainTypeOf(page: Page, shape: Shape, depth: number): Content {
  const { schema, names, types, values, variants } = shape;
  const name = names.find((each) => page.schemaAnchors.has(each));
  if (name !== undefined) return html`<a href="#${page.schemaAnchors.get(name)}">${schemaName(page, name)}</a>`;
  if (values.length === 1) return jsonCode(values[0]);
  if (values.length > 1) return 'enum';
  if (depth === 0) return 'any';
  const typeOfInner = (inner: Schema | undefined) => typeOf(page, shapeOf(page.document, inner), depth - 1);
  if (variants.length > 0) return join(uniqueMarkup(variants.map(typeOfInner)), ' or ');
  if (types.includes('array')) return ['array of ', typeOfInner(schema.items)];
  const mapValues = mapValuesOf(shape);
  if (mapValues !== undefined) return ['map of ', typeOfInner(mapValues)];
  if (types.length > 0) return types.join(' or ');
  return propertiesOf(shape).length > 0 ? 'object' : 'any';
}

/** Removes repeated markup, because alternatives that look the same are shown once. */
function uniqueMarkup(parts: readonly Content[]): readonly Content[] {
  return [...new Map(parts.map((part) => [html`${part}`.markup, part])).values()];
}

function limitsOf(schema: Schema): readonly Content[] {
  return [
    schema.format,
    range(schema.minLength, schema.maxLength, 'character'),
    range(schema.minimum, schema.maximum),
    schema.exclusiveMinimum !== undefined && `more than ${schema.exclusiveMinimum}`,
    schema.exclusiveMaximum !== undefined && `less than ${schema.exclusiveMaximum}`,
    schema.multipleOf !== undefined && `multiple of ${schema.multipleOf}`,
    range(schema.minItems, schema.maxItems, 'item'),
    range(schema.minProperties, schema.maxProperties, 'field'),
    schema.uniqueItems === true && 'no repeats',
    itemLimitsOf(schema),
    schema.default !== undefined && schema.default !== null && html`default ${jsonCode(schema.default)}`,
  ].filter((limit) => limit !== false && limit !== undefined);
}

function itemLimitsOf(schema: Schema): string | undefined {
  if (!isRecord(schema.items)) return undefined;
  const items: Schema = schema.items;
  const length = range(items.minLength, items.maxLength, 'character') ?? range(items.minimum, items.maximum);
  return length === undefined ? undefined : `each ${length}`;
}

function range(low: number | undefined, high: number | undefined, unit?: string): string | undefined {
  const counted = (limit: number) => (unit === undefined ? `${limit}` : `${limit} ${unit}${limit === 1 ? '' : 's'}`);
  if (low !== undefined && high !== undefined) return low === high ? counted(low) : `${low}–${counted(high)}`;
  if (low !== undefined) return `at least ${counted(low)}`;
  return high === undefined ? undefined : `at most ${counted(high)}`;
}

/** The allowed values of a field, or of each item of a list. */
function valuesLine(page: Page, shape: Shape): Content {
  const values = shape.types.includes('array') ? shapeOf(page.document, shape.schema.items).values : shape.values;
  if (values.length < 2) return undefined;
  const list = html`<p class="note">One of ${join(values.map(jsonCode), ', ')}</p>`;
  return values.length <= MANY ? list : html`<details><summary>${values.length} values</summary>${list}</details>`;
}

/** A value as code. A string is shown without quotes, because quotes around every value of a list are noise. */
function jsonCode(value: unknown): Html {
  return html`<code>${typeof value === 'string' ? value : JSON.stringify(value)}</code>`;
}
