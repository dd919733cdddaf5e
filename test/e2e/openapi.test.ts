import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { missingPython, pythonPath } from '../interpreters.ts';
import { openApi } from '../openapi.ts';

type Json = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

const MAX_BYTES = 500_000;
/** Values are data: they may look like schemas. */
const DATA: readonly string[] = ['example', 'examples', 'default', 'const'];

describe('the description of the API, for people who generate clients from it', () => {
  const operations: readonly Operation[] = [openApi.paths, openApi.webhooks].flatMap((items) =>
    Object.values(items as Readonly<Record<string, Readonly<Record<string, Operation>>>>).flatMap((item) =>
      Object.values(item),
    ),
  );
  const schemas = [...schemasIn(openApi.paths), ...schemasIn(openApi.webhooks), ...schemasIn(openApi.components)];

  it('has at most 500 KB', () => {
    const bytes = readFileSync(join(import.meta.dirname, '../../openapi.json')).length;
    assert.ok(bytes <= MAX_BYTES, `${bytes} bytes`);
  });

  it('names each operation once, as a method would be named', () => {
    const ids = operations.map(({ operationId }) => operationId ?? 'none');
    assert.deepEqual(
      ids.filter((id) => !/^[a-z]+[A-Z][A-Za-z0-9]*$/.test(id)),
      [],
    );
    assert.deepEqual(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
    );
  });

  it('has a component for every object with fields, and uses every component', () => {
    const named = new Set<unknown>(Object.values(openApi.components.schemas));
    const anonymous = schemas.filter(({ part }) => part.properties !== undefined && !named.has(part));
    assert.deepEqual(
      anonymous.map(({ place }) => place),
      [],
    );
    const text = JSON.stringify(openApi);
    const unused = Object.entries(openApi.components as Readonly<Record<string, Json>>)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, parts]) => Object.keys(parts).map((name) => `#/components/${kind}/${name}`))
      .filter((reference) => !text.includes(`"${reference}"`));
    assert.deepEqual(unused, []);
  });

  it('lists each value of an enumeration once', () => {
    const repeated = schemas.filter(
      ({ part }) => Array.isArray(part.enum) && new Set(part.enum).size < part.enum.length,
    );
    assert.deepEqual(
      repeated.map(({ place }) => place),
      [],
    );
  });

  it('declares every scope that an operation needs', () => {
    const declared = Object.entries(
      openApi.components.securitySchemes as Readonly<Record<string, { 'x-scopes'?: Json }>>,
    ).flatMap(([scheme, { 'x-scopes': scopes = {} }]) => Object.keys(scopes).map((scope) => `${scheme} ${scope}`));
    const needed = operations
      .flatMap(({ security = [] }) => security.flatMap((choice) => Object.entries(choice)))
      .flatMap(([scheme, scopes]) => scopes.map((scope) => `${scheme} ${scope}`));
    assert.ok(needed.length > 100);
    assert.deepEqual(
      [...new Set(needed)].filter((each) => !declared.includes(each)),
      [],
    );
  });

  it('has patterns that JavaScript and Go take', () => {
    const patterns = patternsIn(schemas);
    assert.ok(patterns.length > 10);
    for (const pattern of patterns) {
      assert.doesNotThrow(() => new RegExp(pattern, 'u'), pattern);
      assert.deepEqual(re2Problems(pattern), [], pattern);
    }
    for (const foreign of ['(?=a)', '(?<!a)', '(a)\\1', '\\p{Cc}', '\\u00e9', 'a{1001}', 'a{1,8192}', '\\d']) {
      assert.notDeepEqual(re2Problems(foreign), [], foreign);
    }
  });

  it('has patterns that Python takes', { skip: missingPython() }, () => {
    const program = 'import json, re, sys\nfor pattern in json.load(sys.stdin): re.compile(pattern)';
    execFileSync(pythonPath(), ['-c', program], { input: JSON.stringify(patternsIn(schemas)) });
  });
});

/** Parts of a pattern that RE2, the engine of Go, lacks or that another engine takes otherwise. */
function re2Problems(pattern: string): string[] {
  const repeats = [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].flatMap(([, least, most]) => [least, most ?? '']);
  return [
    ...(/\(\?(?!:)/.test(pattern) ? ['a group that is not plain'] : []),
    ...(/\\[1-9k]/.test(pattern) ? ['a reference to a group'] : []),
    ...(/\\[pPuUbBdDwWcN]/.test(pattern) ? ['a class or an escape'] : []),
    ...(repeats.some((count) => Number(count) > 1_000) ? ['a repetition above 1,000'] : []),
  ];
}

function patternsIn(found: readonly Found[]): string[] {
  return [...new Set(found.flatMap(({ part }) => (typeof part.pattern === 'string' ? [part.pattern] : [])))];
}

interface Found {
  readonly part: Json;
  readonly place: string;
}

/** Every object of the document that can be a schema, with its place. */
function schemasIn(part: unknown, place = '#'): Found[] {
  if (Array.isArray(part)) return part.flatMap((each, index) => schemasIn(each, `${place}/${index}`));
  if (typeof part !== 'object' || part === null) return [];
  const inner = Object.entries(part).flatMap(([key, value]) => {
    if (key === 'properties') {
      const properties = Object.entries(value as Json);
      return properties.flatMap(([name, schema]) => schemasIn(schema, `${place}/properties/${name}`));
    }
    return DATA.includes(key) ? [] : schemasIn(value, `${place}/${key}`);
  });
  return [{ part: part as Json, place }, ...inner];
}
