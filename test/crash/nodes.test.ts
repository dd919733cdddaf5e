import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runNodes } from './nodes-run.ts';
import { missingForNodes } from './nodes-scene.ts';

const isShort = process.env.TILL_TEST_LONG === undefined;

describe('three nodes behind HAProxy and PgBouncer', {
  skip: isShort ? 'part of npm run test:long' : missingForNodes(),
}, () => {
  it('serve every order while they are restarted and killed in turn, and PostgreSQL fails over', {
    timeout: 600_000,
  }, async () => {
    const { lost, doubled, misreported, unexplained, surplus, books } = await runNodes({ minutes: 0.5, say: () => {} });
    assert.deepEqual(
      { lost, doubled, misreported, unexplained },
      { lost: [], doubled: [], misreported: [], unexplained: [] },
    );
    assert.deepEqual([surplus, books], [0, '']);
  });
});
