import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Drill } from '../../deploy/drills/drill.ts';
import { prune } from '../../deploy/drills/prune.ts';
import { rotateSecrets } from '../../deploy/drills/rotate-secrets.ts';
import { ONLY_LONG } from '../long.ts';

const SHORT: readonly Drill[] = [rotateSecrets, prune];

for (const drill of SHORT) {
  describe(`the drill ${drill.name}`, { skip: ONLY_LONG.skip || drill.missing() }, () => {
    it('does each of its steps', { timeout: 1_200_000 }, async () => {
      const steps = await drill.run({ isShort: true, print: () => {} });
      assert.deepEqual(
        steps.filter(({ isGood }) => isGood === false),
        [],
      );
    });
  });
}
