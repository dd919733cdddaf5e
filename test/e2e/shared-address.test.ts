import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { command } from '../../src/actions/command.ts';
import { attemptEntries } from '../../src/actions/oversight/attempt-entries.ts';
import { readHistory } from '../../src/actions/oversight/history.ts';
import { eraseAccount } from '../../src/actions/paying/erase-payer.ts';
import { REGISTRY } from '../registry.ts';
import { openRefundScene, type RefundScene } from './refund-scene.ts';

/** Both networks have one commitment then, and an item each: the key of the item is not the commitment. */
describe('a deposit address that another network has, too', () => {
  let scene: RefundScene;
  afterEach(() => scene.close());

  it('has its sweeps in the timeline, on the network where they were', async () => {
    scene = await openRefundScene({ watching: { sweepFrom: () => 0n } });
    const node = await scene.newNode();
    const { id, send } = await scene.deposit({ isSecond: true });
    send(1_000n);
    await scene.live(node, 6);
    const entries = attemptEntries(await readHistory(scene.db.sql, await scene.payment(id), 100), REGISTRY);
    const swept = entries.filter(({ what }) => what === 'chain.swept');
    assert.deepEqual(
      swept.map(({ evidence }) => evidence?.network),
      [scene.network],
    );
  });

  it('forgets the name of a payer who has sent money to it', async () => {
    scene = await openRefundScene({});
    const node = await scene.newNode();
    const { id, sender, send } = await scene.deposit({ isSecond: true });
    const name = () => command(scene, (tx) => tx`update items set buyer_name = 'Fox' where subject = ${id}`);
    const named = () => scene.db.sql`
      select purpose from items where subject = ${id} and network = ${scene.network} and buyer_name = 'Fox'`;
    await name();
    send(1_000n);
    await scene.live(node, 3);
    assert.deepEqual(await named(), [{ purpose: 'payment' }], 'its sweep has no name');
    // Older versions have copied the name to the sweep.
    await name();
    assert.equal((await named()).length, 2);
    await eraseAccount(scene, { payer: { network: scene.network, address: sender }, actor: 'operator' });
    assert.deepEqual(await named(), []);
  });
});
