import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseIdempotencyKey, requestHash, shortHash } from './idempotency.ts';

const problemOf = (header: string) => {
  const read = parseIdempotencyKey(header);
  return read.ok ? undefined : read.problem;
};

describe('an Idempotency-Key', () => {
  it('is the same with and without one pair of quotes', () => {
    for (const header of ['abc', '"abc"']) assert.deepEqual(parseIdempotencyKey(header), { ok: true, key: 'abc' });
    assert.deepEqual(parseIdempotencyKey('""abc""'), { ok: true, key: '"abc"' });
    for (const half of ['"', '"abc', 'abc"', 'a"b"c', 'x"abc"', '"abc"x'])
      assert.deepEqual(parseIdempotencyKey(half), { ok: true, key: half });
  });

  it('has 1 to 255 printable characters', () => {
    assert.equal(problemOf('x'.repeat(255)), undefined);
    assert.equal(problemOf(`"${'x'.repeat(255)}"`), undefined);
    assert.equal(problemOf('x'.repeat(256)), 'must have at most 255 characters');
    for (const empty of ['', '""']) assert.equal(problemOf(empty), 'must not be empty');
    for (const right of [' ', '~', 'a b']) assert.equal(problemOf(right), undefined);
    for (const wrong of ['é', '\t', 'a\u007f', '\u001fa', 'aé', 'éa']) {
      assert.equal(problemOf(wrong), 'must consist of printable ASCII characters', JSON.stringify(wrong));
    }
  });
});

describe('the hash of a request', () => {
  it('is the same in any order of members, at every depth, and without members that are undefined', () => {
    const one = { a: 1, b: [{ c: 'x', d: null }], e: true };
    const other = { e: true, b: [{ d: null, c: 'x', f: undefined }], a: 1, g: undefined };
    assert.equal(requestHash(one), requestHash(other));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (members) => {
        const turned = Object.fromEntries(Object.entries(members).toReversed());
        assert.equal(requestHash(turned), requestHash(members));
      }),
    );
  });

  it('is another for any other meaning', () => {
    const meanings = [
      ...[{ a: 1 }, { a: '1' }, { a: 2 }, { b: 1 }, { a: null }, { a: [1] }, { a: { b: 1 } }, { a: 1, b: 1 }, {}, []],
      ...[[1, 2], [2, 1], [[1], 2], [1, [2]], null, true, 'a', '{}', 0],
    ];
    assert.equal(new Set(meanings.map(requestHash)).size, meanings.length);
  });

  it('stays the same for ever: keys live longer than a version', () => {
    const text = '{"a":[1,null,{"b":"x"}],"c":true}';
    const sha256 = createHash('sha256').update(text);
    assert.equal(requestHash({ c: true, a: [1, undefined, { b: 'x' }] }), sha256.digest('base64url'));
    assert.equal(requestHash(undefined), createHash('sha256').update('null').digest('base64url'));
  });

  it('can be 128 bits', () => {
    assert.equal(shortHash('abc'), createHash('sha256').update('abc').digest('hex').slice(0, 32));
  });
});
