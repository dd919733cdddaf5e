import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ONLY_LONG } from '../long.ts';
import { runNodes } from './nodes-run.ts';
import { missingForNodes } from './nodes-scene.ts';

describe('three nodes behind HAProxy and PgBouncer', {
  skip: ONLY_LONG.skip || missingForNodes(),
}, () => {
  it('serve every order while they are restarted and killed in turn, and PostgreSQL fails over', {
    timeout: 600_000,
  }, async () => {
    const { lost, doubled, misreported, unexplained, surplus, books } = await runNodes({
      minutes: 0.5,
      print: () => {},
    });
    assert.deepEqual(
      { lost, doubled, misreported, unexplained },
      { lost: [], doubled: [], misreported: [], unexplained: [] },
    );
    assert.deepEqual([surplus, books], [0, '']);
  });
});
