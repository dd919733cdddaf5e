import { nearest } from '../../domain/nearest.ts';
import type { JsonPath } from './json-text.ts';

/** A problem of a file. The text is the end of a sentence that begins with the name of the field. */
export interface ShapeProblem {
  readonly path: JsonPath;
  /** True if the field is unknown. The error then points at the key of the field, and not at its value. */
  readonly isKey?: true;
  readonly text: string;
}

/** The part of JSON Schema that `network-schema.ts` uses. */
interface Schema {
  readonly type?: string;
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  /** The form that `pattern` demands, in words. */
  readonly 'x-form'?: string;
}

/** Every difference between a value and its schema, in the order of the file. */
export function checkShape(schema: object, value: unknown, path: JsonPath = []): ShapeProblem[] {
  const { type, enum: allowed, const: only } = schema as Schema;
  const problem = (text: string) => [{ path, text }];
  if (only !== undefined) return value === only ? [] : problem(`must be ${JSON.stringify(only)}, or be left out`);
  if (allowed !== undefined) return allowed.includes(value) ? [] : problem(choiceText(allowed, value));
  if (type === 'object') return isObject(value) ? checkObject(schema, value, path) : problem('must be an object');
  if (type === 'array') return Array.isArray(value) ? checkArray(schema, value, path) : problem('must be a list');
  return checkScalar(schema, value).flatMap(problem);
}

function checkObject(schema: Schema, value: Readonly<Record<string, unknown>>, path: JsonPath): ShapeProblem[] {
  const { properties = {}, required = [], title = 'the file' } = schema;
  const names = Object.keys(properties);
  const found = Object.entries(value).flatMap(([name, own]): ShapeProblem[] => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (known !== undefined) return checkShape(known, own, [...path, name]);
    const meant = nearest(name, names);
    const hint = meant === undefined ? `Its fields are ${names.join(', ')}` : `Did you mean ${meant}?`;
    return [{ path: [...path, name], isKey: true, text: `is no field of ${title}. ${hint}` }];
  });
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  return [...found, ...missing.map((name) => ({ path: [...path, name], text: 'is missing' }))];
}

function checkArray({ items, maxItems = 0 }: Schema, value: readonly unknown[], path: JsonPath): ShapeProblem[] {
  if (value.length > maxItems) return [{ path, text: `must have at most ${maxItems} entries` }];
  return items === undefined ? [] : value.flatMap((each, index) => checkShape(items, each, [...path, index]));
}

function checkScalar(schema: Schema, value: unknown): string[] {
  const { type, minimum = 0, maximum = 0, minLength = 0, maxLength = 10_000, pattern } = schema;
  if (type === 'integer') {
    const isGood = Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
    return isGood ? [] : [`must be a whole number from ${minimum} to ${maximum}`];
  }
  if (typeof value !== 'string') return [`must be ${schema['x-form'] ?? 'a text'}, in double quotes`];
  if (pattern !== undefined) return new RegExp(pattern).test(value) ? [] : [`must be ${schema['x-form']}`];
  const isGood = value.length >= minLength && value.length <= maxLength;
  return isGood ? [] : [`must have ${minLength} to ${maxLength} characters`];
}

function choiceText(allowed: readonly unknown[], value: unknown): string {
  const meant = nearest(String(value), allowed.map(String));
  const hint = meant === undefined ? '' : `. Did you mean ${meant}?`;
  return `must be ${allowed.join(' or ')}${hint}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The name of a field, from its path: `tokens[1].decimals`. */
export function fieldName(path: JsonPath): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index > 0 ? '.' : ''}${part}`))
    .join('');
}
