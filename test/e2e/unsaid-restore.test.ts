import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { unfreeze } from '../../src/actions/parties/freeze.ts';
import { createExpiry } from '../../src/actions/paying/expire-payments.ts';
import { noticeRestore } from '../../src/actions/watch/notice-restore.ts';
import type { ChainEvent } from '../../src/chains/chain-reader.ts';
import { newId } from '../../src/domain/ids.ts';
import { findUndecidedEvents } from '../../src/store/chain/chain-events.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { listFreezes } from '../../src/store/parties/freezes.ts';
import { copyDatabase, type DatabaseCopy } from '../database-copy.ts';
import { DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

const DAY_MS = 86_400_000;

describe('a gateway that was started after a restore without the word of the operator', () => {
  let scene: RefundScene;
  let node: TestNode;
  let copy: DatabaseCopy;
  let from: number;
  beforeEach(async () => {
    scene = await openRefundScene({ witnesses: 2 });
    node = await scene.newNode();
    await scene.live(node, 2);
  });
  afterEach(() => scene.close());

  const newPaymentId = () => newId('pay_', scene.nowMs(), scene.world.random.bytes(10));
  const freezes = async () => (await listFreezes(scene.db.sql)).map(({ scope, subject }) => `${scope} ${subject}`);
  const unexpectedMoney = () => listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
  const restoredHere = () => [`restored ${scene.network}`];
  async function backUp() {
    copy = await copyDatabase(scene.db);
    from = (await scene.chain.reader.head()).number;
  }
  /** The database is the backup, and a node starts. It has done nothing yet. */
  async function restore() {
    await copy.restore();
    node = await scene.newNode();
    return createExpiry(scene);
  }
  const rebuildAll = () => rebuild(scene, scene.connected, { from, merchantId: scene.merchantId });

  it('ends no payment by the clock before it has read how it was paid, nor before the rebuild', async () => {
    const [paidId, unpaidId] = [newPaymentId(), newPaymentId()];
    for (const id of [paidId, unpaidId]) await scene.newPayment(id);
    await backUp();
    await scene.accept({ terms: { subject: paidId } });
    await node.turn(2);
    assert.equal(await scene.status(paidId), 'succeeded');
    scene.pass(DAY_MS);
    const expire = await restore();
    await expire();
    assert.equal(await scene.status(paidId), 'requires_action', 'the chain was not read yet');
    await node.turn(2);
    assert.deepEqual(await freezes(), restoredHere());
    assert.match((await scene.alertText('frozen')) ?? '', /the database does not know it. Run till rebuild from/);
    await expire();
    assert.equal(await scene.status(paidId), 'requires_action', 'the network is frozen');
    assert.deepEqual((await rebuildAll())?.unplaced, []);
    assert.deepEqual(await freezes(), []);
    await expire();
    assert.deepEqual([await scene.status(paidId), await scene.status(unpaidId)], ['succeeded', 'expired']);
    assert.deepEqual(await scene.differences(), []);
  });

  it('ends no payment by the clock sooner because one endpoint claims a shorter chain', async () => {
    const id = newPaymentId();
    await scene.newPayment(id);
    await backUp();
    await scene.accept({ terms: { subject: id } });
    await node.turn(2);
    scene.pass(DAY_MS);
    const lag = 100;
    scene.control.lie({ headLag: lag });
    scene.control.testify(1, { headAhead: lag });
    const expire = await restore();
    await expire();
    assert.equal(await scene.status(id), 'requires_action');
    scene.control.beHonest();
    scene.control.testify(1);
    await node.turn(2);
    await expire();
    assert.deepEqual(await freezes(), restoredHere());
    await rebuildAll();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('ends no payment by the chain either: another item of it may have been paid', async () => {
    const id = newPaymentId();
    await scene.newPayment(id);
    await scene.offer(60_000, { subject: id });
    await backUp();
    await scene.accept({ terms: { subject: id } });
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    await restore();
    await node.turn(2);
    scene.pass(DAY_MS);
    scene.control.mine(1, { timestampS: Math.floor(scene.nowMs() / 1_000) });
    await node.turn(3);
    assert.equal(await scene.status(id), 'requires_action');
    await rebuildAll();
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await scene.differences(), []);
  });

  it('is not frozen by a watcher that had read the events before the rebuild, and asked the endpoints meanwhile', async () => {
    await scene.paid(node, { isHeld: true });
    await backUp();
    await scene.register(scene.payers.newAccount());
    await scene.live(node);
    await restore();
    while ((await node.follow()).isBehind);
    const { number: upTo } = await scene.chain.reader.head();
    const read = await findUndecidedEvents(scene.db.sql, { network: scene.network, upTo, turns: new Map(), limit: 10 });
    assert.equal(read.length, 1, 'the payout');
    const report = await rebuildAll();
    assert.deepEqual([report?.rebuilt.length, report?.unplaced], [1, []]);
    await noticeRestore(node.watchDeps, node.watcher, read);
    assert.deepEqual(await freezes(), []);
  });

  it('is noticed behind transfers about which the endpoints contradict each other, however many these are', async () => {
    await scene.paid(node, { isHeld: true });
    await backUp();
    const block = await scene.chain.reader.head();
    await scene.register(scene.payers.newAccount());
    await scene.live(node);
    await restore();
    const collector = scene.chain.payerSide.collector();
    assert.ok(collector);
    // One endpoint shows more transfers of our account than a round asks about, in an earlier place than the forgotten payout.
    const invented = Array.from({ length: 120 }, (_, index): ChainEvent => {
      const digits = index.toString(16);
      return {
        type: 'paid',
        block: { number: block.number, hash: block.hash },
        transactionHash: `0x${digits.padStart(64, 'f')}`,
        logIndex: 0,
        collector,
        commitment: `0x${digits.padStart(64, 'e')}`,
        subject: '5a'.repeat(16),
        payer: scene.intermediate,
        asset: DOLLAR,
        amount: 990n,
        fee: 0n,
        recipient: scene.payers.newAccount(),
      };
    });
    scene.control.lie({ inventedEvents: invented });
    scene.control.testify(0, { invented });
    while ((await node.follow()).isBehind);
    scene.control.beHonest();
    for (let round = 0; round < 6; round += 1) {
      scene.control.mine();
      await node.watch();
    }
    const [open] = await scene.db.sql`
      select count(*)::int as count from chain_events where transaction_hash like '0xfff%' and decided_at is null`;
    assert.deepEqual(open, { count: 120 }, 'they are disputed');
    assert.deepEqual(await freezes(), restoredHere());
  });

  it('does not count held money that it has forgotten twice', async () => {
    await backUp();
    const id = newPaymentId();
    await scene.newPayment(id);
    await scene.accept({ isHeld: true, terms: { subject: id } });
    await scene.live(node, 4);
    assert.equal(await scene.status(id), 'succeeded');
    await restore();
    // The blocks are read, and their events are not decided yet.
    while ((await node.follow()).isBehind);
    await scene.payOut();
    assert.deepEqual(await unexpectedMoney(), []);
    await scene.live(node, 4);
    assert.deepEqual(await freezes(), restoredHere());
    await rebuildAll();
    await scene.live(node, 4);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await unexpectedMoney(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('notices an address that it has forgotten, whoever sweeps it, and once', async () => {
    await backUp();
    const id = newPaymentId();
    await scene.newPayment(id);
    const { item, send } = await scene.deposit({ subject: id });
    const sweep = () => scene.control.relayAsStranger([{ item, commitment: '', signature: '0x', hasCode: false }]);
    send(10n);
    sweep();
    scene.control.mine();
    await restore();
    await node.turn(2);
    assert.deepEqual(await freezes(), restoredHere());
    await unfreeze(scene, { scope: 'restored', subject: scene.network, reason: 'decided', actor: 'test' });
    send(10n);
    sweep();
    await node.turn(2);
    assert.deepEqual(await freezes(), [], 'the operator has decided about it');
  });

  it('notices coin that was paid by an action that it has forgotten', async () => {
    await backUp();
    const id = newPaymentId();
    await scene.newPayment(id);
    const { pay } = await scene.offer(60_000, { subject: id });
    pay();
    scene.control.mine();
    await restore();
    await node.turn(2);
    assert.deepEqual(await freezes(), restoredHere());
  });

  it('is not what a payer makes it believe who carries out a signed item without a confirmation', async () => {
    const id = newPaymentId();
    await scene.newPayment(id);
    const { signed } = await scene.payers.payable('eip3009-vrs', { subject: id });
    scene.control.relayAsStranger([signed]);
    await node.turn(3);
    assert.equal(Number(scene.counts.get('event unknown')), 1);
    assert.deepEqual(await freezes(), []);
  });

  it('is not what a stranger makes it believe with a copied seal', async () => {
    const id = newPaymentId();
    await scene.newPayment(id);
    const { item, send } = await scene.deposit({ subject: id });
    const copied = { ...item, recipient: scene.payers.newAccount() };
    const address = scene.chain.payerSide.depositAddressOf(copied);
    scene.transfer({ from: scene.payers.newAccount(), to: address, units: 5n });
    send(1n);
    scene.control.relayAsStranger([{ item: copied, commitment: '', signature: '0x', hasCode: false }]);
    await node.turn(3);
    assert.equal(Number(scene.counts.get('event unknown')), 1);
    assert.deepEqual(await freezes(), []);
  });
});
