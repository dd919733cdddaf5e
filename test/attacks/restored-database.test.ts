import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { command } from '../../src/actions/command.ts';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { copyDatabase } from '../database-copy.ts';
import { DOLLAR, openRefundScene, type RefundScene } from '../e2e/refund-scene.ts';
import type { TestNode } from '../e2e/relay-scene.ts';

describe('a database restored from a backup', () => {
  let scene: RefundScene;
  let node: TestNode;
  let destination: string;
  beforeEach(async () => {
    scene = await openRefundScene({ witnesses: 2 });
    node = await scene.newNode();
    destination = scene.payers.newAccount();
  });
  afterEach(() => scene.close());

  const freezes = async () => (await listFreezes(scene.db.sql)).map(({ scope, subject }) => `${scope} ${subject}`);

  /** A payment whose held amount was refunded after the backup was made; the database is that backup. */
  async function restoreBeforeRefund() {
    const { id, item } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 20n);
    const copy = await copyDatabase(scene.db);
    const { number: from } = await scene.chain.reader.head();
    await scene.request(id);
    await scene.live(node);
    assert.equal((await scene.refund(id)).state, 'refunded');
    await copy.restore();
    node = await scene.newNode();
    return { id, item, from };
  }

  it('pays nothing out that it has forgotten to have refunded: payouts and refunds are frozen until a rebuild', async () => {
    const { id, item, from } = await restoreBeforeRefund();
    await scene.register(destination);
    const other = await scene.accept({ isHeld: true });
    await node.watch();
    assert.deepEqual(await freezes(), [`restored ${scene.network}`]);
    assert.match((await scene.alertText('frozen')) ?? '', /the database does not know it. Run till rebuild from/);
    await scene.live(node);
    assert.equal(await scene.status(other.id), 'succeeded', 'payments go on');
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 0n);

    const late = await rebuild(scene, scene.connected, { from: from + 50 });
    assert.equal(late?.isLifted, false, 'a rebuild that begins too late lifts nothing');
    const report = await rebuild(scene, scene.connected, { from });
    assert.deepEqual([report?.isLifted, report?.unplaced], [true, []]);
    assert.deepEqual(await freezes(), []);
    assert.equal((await scene.refund(id)).state, 'refunded');
    await scene.live(node);
    assert.equal(scene.control.balanceOf(item.payer, DOLLAR), item.amount, 'refunded once');
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n, 'the other payment alone is paid out');
    assert.deepEqual(await scene.differences(), []);
  });

  it('signs nothing before the watcher has decided about a transfer that it does not know', async () => {
    const { id } = await restoreBeforeRefund();
    await scene.register(destination);
    await node.watch();
    // The moment at which the blocks have been read, and their events are not decided yet.
    await unfreeze(scene, { scope: 'restored', subject: scene.network, reason: 'not decided', actor: 'test' });
    await command(scene, async (tx) => {
      await tx`update chain_events set decided_at = null where lower(fields ->> 'payer') = ${scene.intermediate.toLowerCase()}`;
    });
    await scene.payOut();
    assert.deepEqual(await scene.itemsOf(await scene.payoutIdOf(id)), []);
    await node.watch();
    assert.deepEqual(await freezes(), [`restored ${scene.network}`]);
  });

  it('notices a payout that it has forgotten, though the id of a payout has no time', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    const copy = await copyDatabase(scene.db);
    await scene.register(destination);
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'paid');
    await copy.restore();
    node = await scene.newNode();
    await node.watch();
    assert.deepEqual(await freezes(), [`restored ${scene.network}`]);
  });

  it('stays frozen by the operator’s word, until a rebuild has reached the last final block', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    const restored = { scope: 'restored', subject: scene.network, reason: 'restored', actor: 'operator' } as const;
    await freeze(scene, restored);
    await scene.register(destination);
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'held');
    assert.equal((await rebuild(scene, scene.connected, { from: 0, to: 1 }))?.isLifted, false);
    assert.equal((await rebuild(scene, scene.connected, { from: 0 }))?.isLifted, true);
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'paid');
  });
});
