import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { expectedAt, tellStories, textOf } from './money-stories.ts';

describe('one story about money', () => {
  it('is told by every place, however money arrives', { timeout: 600_000 }, async () => {
    const wrong: string[] = [];
    for (const { way, told } of await tellStories()) {
      for (const [place, said] of told) {
        const expected = textOf(expectedAt(place, way));
        if (said !== null && textOf(said) !== expected) {
          wrong.push(`${way.name}, ${place}: ${textOf(said)} in place of ${expected}`);
        }
      }
    }
    assert.deepEqual(wrong, []);
  });
});
