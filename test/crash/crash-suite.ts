import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { onlyLongIf } from '../long.ts';
import type { Run } from './fault.ts';
import { FAULTS, runFault, sceneFor } from './faults.ts';
import { countPayments, judgeOrders } from './judge-orders.ts';
import { startLoad } from './load.ts';
import { openCrashScene } from './scene.ts';

interface CrashSuite {
  isChosen(name: string): boolean;
  /** True if every test run causes these faults. The long test run causes all. */
  readonly isAlways: boolean;
}

/** Few, and patient: the processor time of the tests goes to the nodes that start again, one after the other. */
const CUSTOMERS = { shoppers: 4, askEveryMs: 150, endsWithinMs: 900_000 };
const JUDGED = { timeout: 480_000 };

/** Causes each chosen fault once, one soon after the other, and then follows every order to its end. */
export function crashSuite(title: string, { isChosen, isAlways }: CrashSuite): void {
  const chosen = FAULTS.filter(({ name }) => isChosen(name));
  describe(title, onlyLongIf(!isAlways), () => {
    let run: Run;
    before(async () => {
      const scene = await openCrashScene(sceneFor(chosen));
      run = { scene, load: startLoad(scene, CUSTOMERS) };
    });
    after(async () => {
      await run.scene.close();
      await run.load.stop();
    });

    for (const fault of chosen) {
      it(`is repaired after ${fault.name}`, { skip: fault.skip ?? false }, async () => {
        await runFault(run, fault, { isPatient: false });
      });
    }

    it(
      'has paid and refunded every order once, said nothing else, and has books that equal the chain',
      JUDGED,
      async () => {
        const { scene, load } = run;
        await load.stop();
        const nothing = { lost: [], doubled: [], misreported: [] };
        assert.deepEqual(await judgeOrders(scene, load.orders), nothing, scene.node.output());
        assert.equal(await countPayments(scene), load.orders.length);
        assert.equal(await scene.compareBooks(), '');
      },
    );
  });
}
