import assert from 'node:assert/strict';
import { it } from 'node:test';
import { areChecksumsCurrent, outdatedArtifacts } from './compile-contracts.ts';

it('has compiled the contracts after their last change; if not, run `npm run contracts`', async () => {
  assert.ok(await areChecksumsCurrent());
});

it('has committed the compiled contracts', { skip: process.env.TILL_TEST_LONG !== '1' && 'long' }, async () => {
  assert.deepEqual(await outdatedArtifacts(), []);
});
