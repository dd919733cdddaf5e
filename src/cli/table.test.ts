import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layoutFields, layoutTable } from './table.ts';

const columns = [
  { title: 'name', cell: ({ name }: Row) => name },
  { title: 'since', cell: ({ since }: Row) => since },
  { title: 'note', cell: ({ note }: Row) => note },
];

interface Row {
  readonly name: string;
  readonly since: Date | null;
  readonly note: string;
}

test('columns are as wide as their widest cell, and lines have no trailing space', () => {
  const rows = [
    { name: 'a', since: new Date('2026-11-15T12:00:00.789Z'), note: '' },
    { name: 'longer', since: null, note: 'x' },
  ];
  assert.equal(
    layoutTable(rows, columns),
    ['NAME    SINCE                 NOTE', 'a       2026-11-15T12:00:00Z  -', 'longer  -                     x'].join(
      '\n',
    ),
  );
});

test('wide characters, and characters made of several, keep the columns straight', () => {
  const row = (name: string) => ({ name, since: null, note: 'x' });
  const [, ...lines] = layoutTable([row('東京'), row('abcd'), row('👨‍👩‍👧ab'), row('e\u0301bcd')], columns).split('\n');
  assert.deepEqual(
    lines.map((line) => line.replace(/^.*? {2}/, '|')),
    Array(4).fill('|-      x'),
  );
});

test('nothing in a cell moves the cursor, breaks the line or turns the text around', () => {
  const text = layoutFields({ name: 'a\u001b[2Jb\nc\u202ed\u009be\u2028f' });
  assert.equal(text, 'name  a [2Jb c d e f');
});

test('no rows leave the titles alone', () => {
  assert.equal(layoutTable([], columns), 'NAME  SINCE  NOTE');
});
