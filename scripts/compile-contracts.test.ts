import assert from 'node:assert/strict';
import { it } from 'node:test';
import { outdatedArtifacts } from './compile-contracts.ts';

it('has committed the compiled contracts; if not, run `node scripts/compile-contracts.ts`', async () => {
  assert.deepEqual(await outdatedArtifacts({ withPermit2: process.env.TILL_TEST_LONG === '1' }), []);
});
