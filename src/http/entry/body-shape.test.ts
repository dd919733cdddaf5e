import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bodyShapeProblem } from './body-shape.ts';

const problemOf = (text: string) => bodyShapeProblem(Buffer.from(text));
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const wide = (members: number) => `{${Array.from({ length: members }, (_, index) => `"k${index}":1`).join()}}`;

describe('the shape of a body', () => {
  it('is refused when it is nested deeper, or has more members or elements, than any request', () => {
    assert.equal(problemOf(nested(32)), undefined);
    assert.match(problemOf(nested(33)) ?? '', /nested/);
    assert.match(problemOf('{"a":'.repeat(33)) ?? '', /nested/);
    assert.equal(problemOf(wide(2_000)), undefined);
    assert.match(problemOf(wide(2_001)) ?? '', /values/);
    assert.match(problemOf(`[${'1,'.repeat(2_000)}1]`) ?? '', /values/);
  });

  it('is counted outside of texts alone', () => {
    assert.equal(
      problemOf(JSON.stringify({ text: `${nested(100)},${'"\\'.repeat(3_000)}${','.repeat(3_000)}` })),
      undefined,
    );
    assert.match(problemOf(`{"a\\\\":${nested(40)}}`) ?? '', /nested/);
    assert.equal(problemOf('"['), undefined);
  });
});
