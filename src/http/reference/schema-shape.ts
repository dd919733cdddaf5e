import { isRecord, lookUp, type OpenApiDocument, type Schema, schemaNameOf } from './openapi-document.ts';

/** A schema as a reader sees it: references resolved, `allOf` merged, null and enumerated values separated. */
export interface Shape {
  readonly schema: Schema;
  /**
   * Names of the shared schemas whose references led to this schema, outermost first. The page links the first one. All of them
   * serve to detect a cycle.
   */
  readonly names: readonly string[];
  readonly types: readonly string[];
  readonly isNullable: boolean;
  /** The only allowed values. Empty if every value of the type is allowed. */
  readonly values: readonly unknown[];
  /** The alternatives of the schema (`anyOf` or `oneOf`) that are not plain values. Empty if the schema has only one form. */
  readonly variants: readonly Schema[];
}

const NOTHING: Shape = { schema: {}, names: [], types: [], isNullable: false, values: [], variants: [] };

/**
 * The shape of a schema. `followed` lists the `$ref`s that were resolved on this path. A schema that refers back to itself has no
 * shape.
 */
export function shapeOf(document: OpenApiDocument, schema: unknown, followed: readonly string[] = []): Shape {
  if (!isRecord(schema)) return NOTHING;
  const stated: Schema = schema;
  if (typeof stated.$ref === 'string') {
    if (followed.includes(stated.$ref)) return NOTHING;
    const name = schemaNameOf(document, stated.$ref);
    const target = shapeOf(document, lookUp(document, stated.$ref), [...followed, stated.$ref]);
    return {
      ...target,
      schema: annotate(target.schema, stated),
      names: name === undefined ? target.names : [name, ...target.names],
    };
  }
  if (Array.isArray(stated.allOf) && stated.allOf.length > 0) {
    if (stated.allOf.length === 1 && stated.properties === undefined) {
      const only = shapeOf(document, stated.allOf[0], followed);
      return { ...only, schema: annotate(only.schema, stated) };
    }
    return merge([...stated.allOf, { ...stated, allOf: undefined }].map((part) => shapeOf(document, part, followed)));
  }
  const options = stated.anyOf ?? stated.oneOf;
  if (Array.isArray(options) && options.some((option) => !isRule(stated, option))) {
    return shapeOfOptions(document, stated, options, followed);
  }

  const types = typesOf(stated);
  const values = valuesOf(stated);
  return {
    schema: stated,
    names: [],
    types: types.filter((type) => type !== 'null'),
    isNullable: types.includes('null') || values.includes(null),
    values: values.filter((value) => value !== null),
    variants: [],
  };
}

/**
 * The limits of a descent through nested schemas. It ends at a cycle, at a depth, and when its budget is spent, so that a short
 * document can never become a page of millions of lines.
 */
export interface Walk {
  readonly depth: number;
  readonly names: readonly string[];
  readonly budget: { left: number };
}

export function startWalk(depth: number, budget: number): Walk {
  return { depth, names: [], budget: { left: budget } };
}

export function stepInto(walk: Walk, shape: Shape): Walk | undefined {
  const isCycle = shape.names.some((name) => walk.names.includes(name));
  if (isCycle || walk.depth === 0 || walk.budget.left <= 0) return undefined;
  walk.budget.left -= 1;
  return { depth: walk.depth - 1, names: [...walk.names, ...shape.names], budget: walk.budget };
}

export function propertiesOf(shape: Shape): readonly (readonly [string, Schema])[] {
  return isRecord(shape.schema.properties) ? Object.entries(shape.schema.properties) : [];
}

/** The schema of the values, if the object is a map without known fields. */
export function mapValuesOf(shape: Shape): Schema | undefined {
  const { additionalProperties } = shape.schema;
  return isRecord(additionalProperties) && propertiesOf(shape).length === 0 ? additionalProperties : undefined;
}

function shapeOfOptions(
  document: OpenApiDocument,
  stated: Schema,
  options: readonly Schema[],
  followed: readonly string[],
): Shape {
  const forms = options.filter((option) => option?.type !== 'null');
  const isNullable = forms.length < options.length;
  const only = forms[0];
  if (only !== undefined && forms.length === 1) {
    const shape = shapeOf(document, only, followed);
    return { ...shape, schema: annotate(shape.schema, stated), isNullable: isNullable || shape.isNullable };
  }
  const shapes = forms.map((form) => shapeOf(document, form, followed));
  const isClosed = shapes.every((shape) => shape.values.length > 0);
  return {
    schema: stated,
    names: [],
    types: [...new Set([...typesOf(stated), ...shapes.flatMap((shape) => shape.types)])],
    isNullable: isNullable || shapes.some((shape) => shape.isNullable),
    values: isClosed ? shapes.flatMap((shape) => shape.values) : [],
    variants: isClosed ? [] : forms,
  };
}

/** True for an alternative that only requires fields of an object with known fields. It is a rule, not another form of the object. */
function isRule(stated: Schema, option: unknown): boolean {
  const rules = ['required', 'not', 'description'];
  return isRecord(stated.properties) && isRecord(option) && Object.keys(option).every((key) => rules.includes(key));
}

function merge(parts: readonly Shape[]): Shape {
  return parts.reduce((whole, part) => ({
    schema: {
      ...whole.schema,
      ...withoutUndefined(part.schema),
      properties: { ...whole.schema.properties, ...part.schema.properties },
      required: [...(whole.schema.required ?? []), ...(part.schema.required ?? [])],
      // The last part may have an example of the merged schema. An example of another part would lack fields, so it is not used.
      example: part.schema.example,
      examples: part.schema.examples,
    },
    // The merged schema has no name of its own, and a link to one of its parts would be wrong.
    names: [],
    types: whole.types.length > 0 ? whole.types : part.types,
    isNullable: whole.isNullable && part.isNullable,
    values: whole.values.length > 0 ? whole.values : part.values,
    variants: [...whole.variants, ...part.variants],
  }));
}

/** The target of a reference, with the texts of the schema that refers to it. They have precedence over the target's own texts. */
function annotate(target: Schema, user: Schema): Schema {
  const { description, deprecated, default: standard, example, examples } = user;
  const hasExample = example !== undefined || examples !== undefined;
  return {
    ...target,
    ...withoutUndefined({ description, deprecated, default: standard }),
    ...(hasExample ? { example, examples } : {}),
  };
}

function withoutUndefined(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

function typesOf(schema: Schema): readonly string[] {
  return (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => typeof type === 'string');
}

function valuesOf(schema: Schema): readonly unknown[] {
  if (schema.const !== undefined) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : [];
}
