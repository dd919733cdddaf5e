import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clockRemark } from './clock-off.ts';

describe('the clock of a machine', () => {
  it('is right within a second', () => {
    for (const offMs of [0, 1_000, -1_000]) assert.equal(clockRemark(offMs), undefined);
  });

  it('is ahead of the database or behind it, by seconds', () => {
    assert.match(clockRemark(1_001) ?? '', / is 1 s ahead of the database\./);
    assert.match(clockRemark(3_600_500) ?? '', / is 3601 s ahead of the database\./);
    assert.match(clockRemark(-90_600) ?? '', / is 91 s behind the database\./);
  });
});
