import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { FIRST_IN_MEMORY, FIRST_ROWS, QUEUES } from './first-rows.ts';

const STORE = join(import.meta.dirname, '../src/store');

const SOURCES = join(import.meta.dirname, '../src');
/** The first rows of a list, up to a named bound. */
const SLICE = /\.slice\(0, [A-Z][A-Z_]+\)/;

const NAME = /^(?:export )?(?:async )?function (\w+)|^(?:export )?const (\w+)/;
/** A limit of rows in SQL. One row answers a question; for a function that takes work it is a queue as well. */
const LIMIT = /\blimit (\$\{|\d+)/g;
const TAKES = /^(take|claim|lock)/;

/** The functions of a file that read the first rows of more. */
function readersIn(text: string): string[] {
  const found = new Set<string>();
  let name = '';
  for (const line of text.split('\n')) {
    const declared = NAME.exec(line);
    name = declared?.[1] ?? declared?.[2] ?? name;
    // Comments and parameters name limits, too.
    if (/^\s*(\*|\/\/|\/\*)/.test(line)) continue;
    const limits = [...line.matchAll(LIMIT)].map(([, limit]) => limit);
    if (limits.some((limit) => limit !== '1') || (limits.length > 0 && TAKES.test(name))) found.add(name);
  }
  return [...found];
}

describe('readers of the first rows', () => {
  const known = [...Object.values(FIRST_ROWS).flat(), ...Object.keys(QUEUES)];

  it('are all in the table, each with its reason or its test, and nothing else is', () => {
    const files = globSync('**/*.ts', { cwd: STORE }).filter((file) => !file.endsWith('.test.ts'));
    const readers = files.flatMap((file) =>
      readersIn(readFileSync(join(STORE, file), 'utf8')).map((name) => `${file.replace(/\.ts$/, '')}: ${name}`),
    );
    assert.ok(readers.length > 80);
    assert.deepEqual(readers.toSorted(), known.toSorted());
    assert.equal(new Set(known).size, known.length);
  });

  it('in memory are all in the table, and nothing else is', () => {
    const files = globSync('{actions,workers}/**/*.ts', { cwd: SOURCES }).filter((file) => !file.endsWith('.test.ts'));
    const slicing = files.filter((file) => SLICE.test(readFileSync(join(SOURCES, file), 'utf8')));
    assert.deepEqual(
      slicing.map((file) => file.replace(/\.ts$/, '')).toSorted(),
      Object.keys(FIRST_IN_MEMORY).toSorted(),
    );
  });

  it('of work have a test that fills their rounds', () => {
    const inMemory = Object.values(FIRST_IN_MEMORY).filter((each) => typeof each !== 'string');
    const missing = [...Object.values(QUEUES), ...inMemory].filter(([file, title]) => {
      const text = readFileSync(join(import.meta.dirname, `${file}.test.ts`), 'utf8').replace(/it\(\s+/g, 'it(');
      return !["it('", 'it("', 'it(`'].some((call) => text.includes(call + title));
    });
    assert.deepEqual(missing, []);
  });

  it('would be noticed', () => {
    const reader = [
      'export function findSome(db: Reader) {',
      '  return db`select id from some limit ' + '$' + '{limit}`;',
      '}',
    ];
    assert.deepEqual(readersIn(reader.join('\n')), ['findSome']);
    assert.deepEqual(readersIn('export const takeOne = () => db`select from some limit 1`;'), ['takeOne']);
    assert.deepEqual(readersIn('export const isThere = () => db`select from some limit 1`;'), []);
  });
});
