import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { findMissedEvent } from '../../src/actions/watch/find-missed-event.ts';
import { ChainUnavailableError } from '../../src/chains/chain.ts';
import { listPaymentEvents } from '../../src/store/payments/payments.ts';
import { openRelayScene, type RelayScene, type SceneInput } from './relay-scene.ts';

const HOUR_MS = 60 * 60_000;

describe('the watcher', () => {
  let scene: RelayScene;
  const open = async (input: SceneInput = {}) => {
    scene = await openRelayScene(input);
    return scene;
  };
  afterEach(() => scene.close());

  it('calls a payment succeeded at final depth, and not before', async () => {
    await open({ depth: 3 });
    const { id, commitment } = await scene.accept();
    const node = await scene.newNode();
    await node.turn(2);
    assert.equal(await scene.status(id), 'processing');
    assert.equal((await scene.item(commitment))?.state, 'sent');
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await scene.item(commitment))?.state, 'paid');
    assert.deepEqual(
      (await scene.versions()).map(({ state }) => state),
      ['final'],
    );
  });

  it('waits for more depth where the operator asks for it', async () => {
    await open({ depth: 1, finality: { tiers: [{ from: 2n, depth: 3 }] } });
    const small = await scene.accept();
    const large = await scene.accept({ told: { amount: 2_000_000n } });
    const node = await scene.newNode();
    await node.turn();
    assert.equal(await scene.status(small.id), 'succeeded');
    await node.turn();
    assert.equal(await scene.status(large.id), 'processing');
    assert.equal((await scene.item(large.commitment))?.state, 'sent');
    await node.turn();
    assert.equal(await scene.status(large.id), 'succeeded');
  });

  it('decides nothing on a block that the endpoints do not agree on', async () => {
    await open();
    const { id } = await scene.accept();
    const node = await scene.newNode();
    scene.control.lie({ isDisagreeing: true });
    await node.turn(3);
    assert.equal(await scene.status(id), 'processing');
    scene.control.beHonest();
    await node.watch();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('puts a payment back to work when its block is reorganised away before final depth', async () => {
    await open({ depth: 3 });
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.turn();
    scene.control.reorg(1, { transactions: 'dropped' });
    await node.watch();
    assert.equal(scene.counts.get('reorg'), 1);
    scene.pass(5_000);
    await node.turn(3);
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await scene.versions()).length, 1);
    assert.deepEqual(await scene.alerts(), []);
  });

  it('follows a transaction that a reorganisation moved to another block', async () => {
    await open({ depth: 3 });
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.turn();
    scene.control.reorg(1, { length: 3, transactions: 'pending' });
    await node.watch();
    await node.turn(4);
    assert.equal(await scene.status(id), 'succeeded');
    const rows = await scene.db.sql`select from chain_events`;
    assert.equal(rows.length, 1);
  });

  it('lets succeeded stand after a reorganisation deeper than final depth, alerts, and sends again', async () => {
    await open();
    const { id, commitment, item } = await scene.accept();
    const node = await scene.newNode();
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    scene.control.reorg(2, { length: 3, transactions: 'dropped' });
    await node.watch();
    assert.equal(await scene.status(id), 'succeeded');
    assert.equal((await scene.item(commitment))?.state, 'due');
    assert.deepEqual(await scene.alerts(), [`deep_reorg ${id}`]);
    const log = await listPaymentEvents(scene.db.sql, id);
    assert.deepEqual(
      log.map(({ event, toStatus }) => `${event} ${toStatus}`),
      ['confirmed processing', 'succeeded succeeded', 'reorged succeeded'],
    );
    await node.turn(4);
    assert.equal(scene.control.balanceOf(item.recipient, item.asset), 990n);
    assert.equal((await scene.item(commitment))?.state, 'paid');
    assert.deepEqual(await scene.alerts(), []);
  });

  it('lets a payment stand whose payer turns out to be listed, and tells a person', async () => {
    const list = { hash: 'ab', version: '7', date: '2026-03-01' };
    await open({ screening: { decide: (accounts) => ({ hits: accounts, list }) } });
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.turn(2);
    assert.equal(await scene.status(id), 'succeeded');
    assert.deepEqual(await scene.alerts(), [`screened_payer ${id}`]);
    const log = await listPaymentEvents(scene.db.sql, id);
    assert.deepEqual(log.at(-1)?.evidence.screenedPayer, list);
  });

  it('ignores events whose commitment is not ours', async () => {
    await open();
    const { id, item } = await scene.accept();
    const node = await scene.newNode();
    scene.control.emitLookAlike(item, `0x${'77'.repeat(32)}`);
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    assert.equal(scene.counts.get('event unknown'), 1);
  });

  it('sets aside an event that contradicts its own commitment, with an alert, and goes on with the rest', async () => {
    await open();
    const { id, item, commitment } = await scene.accept();
    const other = await scene.accept();
    const node = await scene.newNode();
    scene.control.emitLookAlike({ ...item, amount: 5n }, commitment);
    await node.turn();
    assert.equal(await scene.status(other.id), 'succeeded');
    assert.equal(await scene.status(id), 'succeeded');
    assert.match((await scene.alerts()).join(), /event_set_aside/);
  });

  it('sets aside a block that cannot be read, with an alert, and goes on with the rest', async () => {
    await open();
    const node = await scene.newNode();
    await node.turn();
    let calls = 0;
    scene.control.intercept((method) => {
      if (method !== 'events') return;
      calls += 1;
      if (calls <= 4) throw new TypeError('What is this?');
    });
    const { id } = await scene.accept();
    await node.turn();
    scene.control.intercept(undefined);
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
    assert.match((await scene.alerts()).join(), /block_set_aside/);
  });

  it('reads again what a lagging replica had nothing to say about', async () => {
    await open();
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.relay();
    scene.control.mine();
    scene.control.lie({ emptyEvents: 1 });
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    scene.pass(3_000);
    await node.watch();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('waits for an endpoint that lags behind what was read already', async () => {
    await open();
    const node = await scene.newNode();
    await node.turn(3);
    scene.control.lie({ headLag: 2 });
    await node.watch();
    assert.equal(scene.counts.get('reorg'), undefined);
    scene.control.beHonest();
    const { id } = await scene.accept();
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('keeps nothing of a reading whose parts do not belong together', async () => {
    await open();
    const node = await scene.newNode();
    await node.turn();
    const { id } = await scene.accept();
    await node.relay();
    scene.control.mine();
    scene.control.lie({ wrongHashAt: (await scene.chain.head()).number });
    await assert.rejects(node.watch(), { name: 'ChainUnavailableError' });
    assert.equal(await scene.status(id), 'processing');
    scene.control.beHonest();
    await node.watch();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('catches up after days offline before anything expires', async () => {
    await open({ depth: 2 });
    const paid = await scene.accept();
    const unpaid = await scene.accept();
    const node = await scene.newNode();
    await node.watch();
    scene.control.setBalance(unpaid.payer.address, unpaid.item.asset, 0n);
    await node.relay();
    scene.control.mine(700);
    scene.pass(72 * HOUR_MS);
    scene.control.mine(700);
    await (await scene.newNode()).watch();
    assert.equal(await scene.status(paid.id), 'succeeded');
    assert.equal(await scene.status(unpaid.id), 'expired');
  });

  it('expires an authorization that ran out unused, and destroys the signature', async () => {
    await open();
    const deadlineS = Math.floor(scene.nowMs() / 1_000) + 600;
    const { id, commitment, payer, item } = await scene.accept({ told: { deadlineS } });
    scene.control.setBalance(payer.address, item.asset, 0n);
    const node = await scene.newNode();
    scene.pass(HOUR_MS);
    // Time alone proves nothing: the chain has no block later than the deadline yet.
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    scene.control.goDown('isUsed');
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    scene.control.comeBack('isUsed');
    scene.pass(3_000);
    await node.watch();
    assert.equal(await scene.status(id), 'expired');
    const stored = await scene.item(commitment);
    assert.deepEqual([stored?.state, stored?.signature], ['unpaid', null]);
  });

  it('does not wait for a long-lived payment to expire when its authorization has run out', async () => {
    await open();
    const deadlineS = Math.floor(scene.nowMs() / 1_000) + 600;
    const { id, payer, item } = await scene.accept({ told: { deadlineS } });
    scene.control.setBalance(payer.address, item.asset, 0n);
    const node = await scene.newNode();
    scene.pass(601_000);
    scene.control.mine();
    assert.ok((await scene.payment(id)).expiresAt.getTime() > scene.nowMs());
    await node.watch();
    assert.equal(await scene.status(id), 'expired');
  });

  it('fails a payment whose authorization was cancelled, at final depth', async () => {
    await open({ depth: 2 });
    const { id, item, commitment } = await scene.accept();
    const node = await scene.newNode();
    scene.control.cancelAuthorization(item);
    scene.control.mine();
    await node.relay();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    await node.turn(2);
    const payment = await scene.payment(id);
    assert.deepEqual([payment.status, payment.failureCode], ['failed', null]);
    assert.equal((await scene.item(commitment))?.signature, null);
  });

  it('finds the payment when a stranger relayed it', async () => {
    await open();
    const { id, signed, item } = await scene.accept();
    const node = await scene.newNode();
    const hash = scene.control.relayAsStranger([signed]);
    scene.control.mine();
    await node.relay();
    await node.watch();
    const payment = await scene.payment(id);
    assert.deepEqual([payment.status, payment.transactionHash, payment.transactionNonce], ['succeeded', hash, null]);
    assert.equal(scene.control.balanceOf(item.recipient, item.asset), 990n);
  });

  it('finds a payment that the chain reported while nobody could read it, instead of failing it', async () => {
    await open();
    const { id, signed } = await scene.accept();
    const node = await scene.newNode();
    await node.watch();
    scene.control.relayAsStranger([signed]);
    scene.control.mine();
    scene.control.lie({ emptyEvents: 2 });
    scene.control.mine(20);
    await node.watch();
    await node.turn(4);
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('calls it unknown, not missing, when an endpoint lacks the blocks that an event may lie in', async () => {
    await open();
    const { commitment } = await scene.accept();
    const stored = await scene.item(commitment);
    assert.ok(stored);
    const chain = { ...scene.chain, witnesses: () => [] };
    const finalAt = new Date(scene.nowMs());
    const cursor = { network: scene.network, blockNumber: 9, blockHash: '0x', finalNumber: 9, finalAt };
    await assert.rejects(findMissedEvent({} as never, { chain, cursor, stored }), ChainUnavailableError);
  });

  it('fails a payment that was refused in a final block and still would be', async () => {
    await open();
    const { id, payer, item, commitment } = await scene.accept();
    const node = await scene.newNode();
    await node.relay();
    scene.control.setBalance(payer.address, item.asset, 0n);
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'failed');
    const stored = await scene.item(commitment);
    assert.deepEqual([stored?.state, stored?.signature], ['unpaid', null]);
    const events = await listPaymentEvents(scene.db.sql, id);
    assert.match(JSON.stringify(events.at(-1)?.evidence), /short_balance/);
  });

  it('sends again what was refused for a reason that proves nothing', async () => {
    await open();
    const { id, item, commitment } = await scene.accept();
    const node = await scene.newNode();
    await node.relay();
    scene.control.setPaused(item.asset);
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    assert.equal((await scene.item(commitment))?.state, 'due');
    scene.control.setPaused(item.asset, false);
    await node.turn(4);
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('is not misled by a stranger who has an item refused with a signature he made up', async () => {
    await open();
    const { id, signed } = await scene.accept();
    const other = await scene.payers.payable('eip3009-vrs');
    const node = await scene.newNode();
    await node.watch();
    scene.control.relayAsStranger([{ ...signed, signature: other.signed.signature }]);
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    await node.turn();
    assert.equal(await scene.status(id), 'succeeded');
  });

  it('takes native coin whose payer never confirmed', async () => {
    await open({ depth: 2 });
    const { id, pay, payer } = await scene.offer();
    const node = await scene.newNode();
    const hash = pay();
    scene.control.mine();
    await node.watch();
    assert.equal(await scene.status(id), 'requires_action');
    await node.turn();
    const payment = await scene.payment(id);
    assert.equal(payment.status, 'succeeded');
    assert.equal(payment.transactionHash, hash);
    assert.equal(payment.buyerAccount, `${scene.network}:${payer.address}`);
  });

  it('ends a payment whose native action was not used, after a final block later than its deadline', async () => {
    await open();
    const { id, commitment } = await scene.offer();
    const node = await scene.newNode();
    scene.pass(16 * 60_000);
    await node.watch();
    assert.equal(await scene.status(id), 'requires_action');
    await node.turn();
    assert.equal(await scene.status(id), 'expired');
    assert.equal((await scene.item(commitment))?.state, 'unpaid');
  });

  it('records money that arrives after the payment has ended, with an alert', async () => {
    await open();
    const { id, pay, commitment } = await scene.offer();
    const node = await scene.newNode();
    await scene.movePayment({
      paymentId: id,
      event: { type: 'cancelled', by: 'merchant' },
      actor: 'test',
      evidence: {},
    });
    pay();
    await node.turn();
    assert.equal(await scene.status(id), 'cancelled');
    assert.equal((await scene.item(commitment))?.state, 'paid');
    assert.deepEqual(await scene.alerts(), [`paid_after_end ${id}`]);
  });

  it('does the same again after a crash between a move and its mark, and nothing happens twice', async () => {
    await open();
    const { id } = await scene.accept();
    const node = await scene.newNode();
    await node.turn();
    await scene.db.sql`update chain_events set decided_at = null`;
    await (await scene.newNode()).watch();
    assert.equal((await listPaymentEvents(scene.db.sql, id)).length, 2);
    assert.deepEqual(await scene.alerts(), []);
  });

  it('writes nothing under a lease that was taken over', async () => {
    await open();
    const stale = await scene.newNode();
    await scene.newNode();
    await assert.rejects(stale.watch(), { name: 'LeaseLostError' });
  });

  it('raises an alert for what cannot be found out, and holds the payment', async () => {
    await open();
    const { id, payer, item } = await scene.accept();
    scene.control.setBalance(payer.address, item.asset, 0n);
    const node = await scene.newNode();
    scene.pass(2 * HOUR_MS);
    scene.control.mine();
    scene.control.lie({ isDisagreeing: true });
    await node.watch();
    assert.equal(await scene.status(id), 'processing');
    assert.deepEqual(await scene.alerts(), [`payments_undetermined ${scene.network}`]);
    scene.control.beHonest();
    scene.pass(60_000);
    await node.turn();
    assert.equal(await scene.status(id), 'expired');
    assert.deepEqual(await scene.alerts(), []);
  });
});
