import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { FAULTS, type Run, runFault } from './faults.ts';
import { countPayments, judgeOrders } from './judge-orders.ts';
import { startLoad } from './load.ts';
import { openCrashScene } from './scene.ts';

/** Causes each chosen fault once, one soon after the other, and then follows every order to its end. */
export function crashSuite(title: string, isChosen: (name: string) => boolean): void {
  const skip = process.env.TILL_TEST_LONG === undefined && 'part of npm run test:long';
  describe(title, { skip }, () => {
    let run: Run;
    before(async () => {
      const scene = await openCrashScene();
      run = { scene, load: startLoad(scene) };
    });
    after(async () => {
      await run.scene.close();
      await run.load.stop();
    });

    for (const fault of FAULTS.filter(({ name }) => isChosen(name))) {
      it(`is repaired after ${fault.name}`, async () => {
        await runFault(run, fault, { isPatient: false });
      });
    }

    it('has paid and refunded every order once, said nothing else, and has books that equal the chain', async () => {
      const { scene, load } = run;
      await load.stop();
      const nothing = { lost: [], doubled: [], misreported: [] };
      assert.deepEqual(await judgeOrders(scene, load.orders), nothing, scene.node.output());
      assert.equal(await countPayments(scene), load.orders.length);
      assert.equal(await scene.compareBooks(), '');
    });
  });
}
