import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { IS_LONG, ONLY_LONG, onlyLongIf } from '../long.ts';
import type { Run } from './fault.ts';
import { FAULTS, runFault, sceneFor } from './faults.ts';
import { countPayments, judgeOrders } from './judge-orders.ts';
import { startLoad } from './load.ts';
import { openCrashScene } from './scene.ts';

interface CrashSuite {
  isChosen(name: string): boolean;
  /** True for a fault that every test run causes. The long test run causes all. */
  isAlways(name: string): boolean;
}

/** Few, and patient: the processor time of the tests goes to the nodes that start again. */
const CUSTOMERS = { shoppers: 4, askEveryMs: 150 };
const JUDGED = { timeout: 480_000 };

/** Causes each chosen fault once, one soon after the other, and then follows every order to its end. */
export function crashSuite(title: string, { isChosen, isAlways }: CrashSuite): void {
  const all = FAULTS.filter(({ name }) => isChosen(name));
  const chosen = all.filter(({ name }) => IS_LONG || isAlways(name));
  describe(title, onlyLongIf(chosen.length === 0), () => {
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

    for (const { name } of all.filter((fault) => !chosen.includes(fault))) {
      it(`is repaired after ${name}`, ONLY_LONG);
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
