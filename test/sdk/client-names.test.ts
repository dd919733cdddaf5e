import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createTill, webhooks } from '../../sdk/src/till.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, '../..', name), 'utf8');

/** The names in a source that the pattern finds, sorted. */
const namesIn = (file: string, pattern: RegExp) =>
  [...read(file).matchAll(pattern)].map(([, name = '']) => name).sort();

/** `till.py` overrides this method of Python's library for a class of its own. */
const URLLIB_METHOD = 'redirect_request';

describe('the client libraries', () => {
  const [, table = ''] =
    /^\| JavaScript \| Python \| PHP \|\n\|[-|]+\|\n((?:\|.*\n)+)/m.exec(read('docs/clients.md')) ?? [];
  const rows = [...table.matchAll(/^\| `(.+?)` \| `(.+?)` \| `(.+?)` \|$/gm)].map((row) => row.slice(1));
  const column = (index: number) => rows.map((row) => row[index] ?? '').sort();

  it('have the methods of one table, and Python and PHP no others', () => {
    const client: object = { ...createTill({ baseUrl: 'https://till.example', apiKey: 'till_test_x' }), webhooks };
    const known = Object.entries(client).flatMap(([part, methods]) =>
      Object.keys(methods).map((name) => `${part}.${name}`),
    );
    assert.ok(rows.length > 0);
    assert.deepEqual(
      column(0).filter((name) => !known.includes(name)),
      [],
    );
    const python = namesIn('clients/python/till.py', /^(?: {4})?def ([a-z]\w*)\(/gm);
    assert.deepEqual(
      column(1),
      python.filter((name) => name !== URLLIB_METHOD),
    );
    assert.deepEqual(column(2), namesIn('clients/php/till.php', /^(?: {4}public )?function ([a-z]\w*)\(/gm));
  });

  it('have one name in two spellings in Python and PHP', () => {
    const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    for (const [, python = '', php] of rows) assert.equal(camel(python), php);
  });

  it('are packed with the version of their gateway', () => {
    const versionOf = (text: string): string => JSON.parse(text).version;
    const own = versionOf(read('package.json'));
    assert.equal(versionOf(read('sdk/package.json')), own);
    assert.equal(JSON.parse(read('package-lock.json')).packages.sdk.version, own);
  });
});
