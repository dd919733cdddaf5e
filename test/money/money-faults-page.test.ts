import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { NAMED_MUTANTS } from '../simulation/named-mutants.ts';
import { MONEY_MUTANTS, type MoneyMutant } from './money-mutants.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const rows = read('docs/money-faults.md')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))
  .filter((cells) => cells.length === 3 && cells[1] !== 'test');

/** `file`: a title; another title; `another file`: a title */
function testsOf(cell: string): [file: string, title: string][] {
  let file = '';
  return cell.split('; ').map((part) => {
    const named = /^`([^`]+)`: (.+)$/.exec(part);
    const name = named?.[1];
    if (name !== undefined) file = `${name.includes('/') ? '' : 'test/e2e/'}${name}.test.ts`;
    return [file, named?.[2] ?? part];
  });
}

function hasTest(file: string, title: string): boolean {
  const calls = read(file).replace(/it\(\s+/g, 'it(');
  return ["it('", 'it("', 'it(`'].some((call) => calls.includes(call + title));
}

describe('the page of faults of money that arrives', () => {
  it('names tests that exist', () => {
    assert.ok(rows.length > 40);
    const missing = rows.flatMap(([, cell = '']) => testsOf(cell).filter(([file, title]) => !hasTest(file, title)));
    assert.deepEqual(missing, []);
  });

  it('names mutants that exist', () => {
    const lines = new Set(NAMED_MUTANTS.map(({ name }) => name));
    const functions = new Set(MONEY_MUTANTS.map(({ name }) => name));
    const missing = rows
      .flatMap(([, , cell = '']) => (cell === '–' ? [] : cell.split('; ')))
      .filter((name) => {
        const own = name.replace(/ _\(m\)_$/, '');
        return own === name ? !lines.has(name) : !functions.has(own);
      });
    assert.deepEqual(missing, []);
  });

  it('names mutants of functions whose lines are in the source, once each', () => {
    const timesIn = ({ file, from }: MoneyMutant) => read(`src/domain/money/${file}`).split(from).length - 1;
    const lost = MONEY_MUTANTS.filter((mutant) => timesIn(mutant) !== 1);
    assert.deepEqual(
      lost.map(({ name, file }) => `${file}: ${name}`),
      [],
    );
  });
});
