import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nearest } from './nearest.ts';

const WORDS = ['payments', 'refunds', 'freeze', 'unfreeze', 'keys'];
/** How many edits a word is away from another: the least number of allowed ones. */
const distance = (word: string, from: string) => {
  const edits = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  return edits.find((most) => nearest(word, [from], () => most) !== undefined);
};

describe('the nearest word', () => {
  it('is the one that was meant', () => {
    const rows = [
      ...([
        'payments payments',
        'payment payments',
        'paymnets payments',
        'refudns refunds',
        'unfreze unfreeze',
      ] as const),
      ...(['frezee freeze', 'key keys', 'kyes keys', 'xeys keys'] as const),
    ];
    for (const row of rows) assert.equal(nearest(row.split(' ')[0] ?? '', WORDS), row.split(' ')[1], row);
    for (const word of ['', 'zzzzzzzz', 'k', 'paid', 'x'.repeat(64)])
      assert.equal(nearest(word, WORDS), undefined, word);
  });

  it('is away by letters added, left out, exchanged, or swapped with their neighbour', () => {
    const from = 'abcdefgh';
    const edits = [
      'abcdefgh',
      'abcdefghx',
      'xabcdefgh',
      'abcdxefgh',
      'bcdefgh',
      'abcdefg',
      'abcdxfgh',
      'xbcdefgh',
      'abcdefgx',
    ];
    assert.deepEqual(
      edits.map((word) => distance(word, from)),
      [0, 1, 1, 1, 1, 1, 1, 1, 1],
    );
    assert.deepEqual(
      ['bacdefgh', 'abcdefhg', 'abdcefgh', 'badcefgh', 'abxcdefghy', 'cdefgh', 'cbadefgh'].map((word) =>
        distance(word, from),
      ),
      [1, 1, 1, 2, 2, 2, 2],
    );
  });

  it('is as far in one direction as in the other', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 9, maxLength: 12 });
    fc.assert(fc.property(word, word, (a, b) => assert.equal(distance(a, b), distance(b, a))));
  });

  it('may be two edits away, or a third of its letters, and never all of them', () => {
    assert.equal(nearest('abxx', ['abcd']), 'abcd');
    assert.equal(nearest('axxx', ['abcd']), undefined);
    assert.equal(nearest('abcdefxxx', ['abcdefghi']), 'abcdefghi');
    assert.equal(nearest('abcdexxxx', ['abcdefghi']), undefined);
    assert.equal(nearest('xy', ['ab']), undefined);
    assert.equal(nearest('ax', ['ab']), 'ab');
    assert.equal(nearest('b', ['ab']), 'ab');
  });

  it('is the nearest of several, and the first of equals', () => {
    assert.equal(nearest('abcx', ['abxy', 'abcd', 'abce']), 'abcd');
  });

  it('is not looked for if the word is very long', () => {
    const [long, longer] = ['a'.repeat(64), 'a'.repeat(65)];
    assert.equal(nearest(long, [longer]), longer);
    assert.equal(nearest(longer, [longer]), undefined);
  });
});
