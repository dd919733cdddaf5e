import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collectStories, disagreements } from './money-stories.ts';

describe('one story about money', () => {
  it('is reported by every place, however money arrives', { timeout: 600_000 }, async () => {
    assert.deepEqual(disagreements(await collectStories()), []);
  });
});
