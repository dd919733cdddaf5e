import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DRILLS } from '../../deploy/drills/drills.ts';
import { ONLY_LONG } from '../long.ts';

for (const drill of DRILLS) {
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
