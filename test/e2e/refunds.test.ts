import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { beginOutgoing } from '../../src/actions/outgoing/begin/begin-outgoing.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { coverRefunds } from '../../src/actions/outgoing/refund/cover-refunds.ts';
import { retryRefund } from '../../src/actions/outgoing/refund/retry-refund.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

describe('refunds', () => {
  let scene: RefundScene;
  let node: TestNode;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
  });
  afterEach(() => scene.close());

  it('return the gross amount: the net from the held amount, the fee from the operator’s float', async () => {
    const { id, item, payer } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 25n);
    await scene.request(id);
    await scene.live(node);
    const refund = await scene.refund(id);
    assert.equal(refund.state, 'refunded');
    assert.match(refund.transactionHash ?? '', /^0x/);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
    assert.deepEqual(await scene.floats(), { operator: '15' });
    assert.deepEqual(await scene.history(id), ['requested requested', 'covered sending', 'paid refunded']);
    assert.equal((await scene.payout(id))?.state, 'refunded');
    assert.deepEqual(await scene.differences(), []);
  });

  it('come out of the merchant’s float when the merchant has the money', async () => {
    const { id, item, payer } = await scene.paid(node);
    await scene.fill(node, scene.merchantId, 1_000n);
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.request(id);
    await scene.live(node);
    assert.equal((await scene.refund(id)).state, 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
    assert.deepEqual(await scene.floats(), { [scene.merchantId]: '10', operator: '0' });
    assert.deepEqual(await scene.differences(), []);
  });

  it('await funds, and are carried out as soon as floats cover them', async () => {
    const { id, payer } = await scene.paid(node);
    await scene.request(id);
    await scene.live(node, 2);
    assert.equal((await scene.refund(id)).state, 'awaiting_funds');
    assert.ok((await scene.alerts()).includes(`refund_awaiting_funds ${refundIdOf(id, 1)}`));
    assert.equal(
      await scene.alertText('refund_awaiting_funds'),
      `A refund of 0.001 USDC on Till Sandbox waits: the float of ${scene.merchantId} lacks 0.00099 USDC, and the operator's float lacks 0.00001 USDC. See till float add, or till refunds cover ${refundIdOf(id, 1)}. The merchant can sign for it if till refunds show ${refundIdOf(id, 1)} names a link.`,
    );
    await scene.fill(node, scene.merchantId, 990n);
    await scene.live(node, 2);
    assert.equal((await scene.refund(id)).state, 'awaiting_funds');
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.live(node);
    assert.equal((await scene.refund(id)).state, 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('are taken once of ten at once', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => scene.request(id)));
    const codes = answers.map((answer) => (answer.status === 'fulfilled' ? 'taken' : answer.reason.code));
    assert.deepEqual(codes.sort(), [...Array(9).fill('already_refunded'), 'taken']);
  });

  it('and payouts never both take the held amount', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 1_000n);
    const payments = [];
    for (let count = 0; count < 6; count += 1) payments.push(await scene.paid(node, { isHeld: true }));
    await scene.register(scene.payers.newAccount());
    await Promise.all([...payments.map(({ id }) => scene.request(id)), scene.payOut(), scene.payOut()]);
    await scene.live(node);
    for (const { id } of payments) {
      const [payout, refund] = [await scene.payout(id), await scene.refund(id)];
      const isHeld = refund.fromHeld !== '0';
      assert.equal(payout?.state, isHeld ? 'refunded' : 'paid');
      assert.equal(refund.state, isHeld ? 'refunded' : 'awaiting_funds');
    }
    assert.deepEqual(await scene.differences(), []);
  });

  it('survive a crash after every step, and are paid once', async () => {
    const { id, payer, item } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.request(id);
    // The terms are stored, and the signer dies: the next round signs the same terms.
    const sender = { ...scene.chain.sender, signItem: () => Promise.reject(new Error('dead')) };
    const dying = { ...scene.connected, chain: { ...scene.chain, sender } };
    await coverRefunds(scene);
    await assert.rejects(beginOutgoing(scene, dying), /dead/);
    const planned = (await scene.outgoing(refundIdOf(id, 1)))?.commitment;
    assert.ok(planned);
    await scene.payOut();
    assert.deepEqual(
      (await scene.itemsOf(refundIdOf(id, 1))).map(({ commitment }) => commitment),
      [planned],
    );
    // The transaction is stored, and never leaves: whoever leads next sends it.
    scene.control.broadcasts('lost');
    await node.relay();
    const next = await scene.newNode();
    await scene.live(next, 5);
    assert.equal((await scene.refund(id)).state, 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
  });

  it('are tried again when an attempt ran out, and not before that is proved', async () => {
    const { id, payer, item } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.request(id);
    scene.control.setPaused(DOLLAR);
    await scene.live(node, 2);
    const first = await scene.outgoing(refundIdOf(id, 1));
    scene.pass(3_500_000);
    await scene.live(node, 2);
    assert.equal((await scene.outgoing(refundIdOf(id, 1)))?.commitment, first?.commitment);
    scene.pass(200_000);
    await scene.live(node, 2);
    scene.pass(100_000);
    scene.control.setPaused(DOLLAR, false);
    await scene.live(node, 4);
    const items = await scene.itemsOf(refundIdOf(id, 1));
    assert.deepEqual(items.map(({ state }) => state).sort(), ['paid', 'unpaid']);
    assert.equal((await scene.refund(id)).state, 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
    assert.deepEqual(await scene.differences(), []);
  });

  it('fail when the payer cannot receive, keep their cover, and can be retried by the operator', async () => {
    const { id, payer, item } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.request(id);
    scene.control.setBlacklisted(payer.address, DOLLAR);
    await scene.live(node, 2);
    scene.pass(3_700_000);
    await scene.live(node, 3);
    const failed = await scene.refund(id);
    assert.deepEqual([failed.state, failed.problem], ['failed', 'recipient_blacklisted']);
    assert.equal((await scene.payout(id))?.state, 'refunding');
    assert.equal((await scene.books())['intermediate/refunds'], 1_000n);
    scene.control.setBlacklisted(payer.address, DOLLAR, false);
    await retryRefund(scene, { id: failed.id, actor: 'operator' });
    await scene.live(node);
    assert.equal((await scene.refund(id)).state, 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('are not sent again by a database that has forgotten them', async () => {
    const { id, payer, item } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 20n);
    await scene.request(id);
    await scene.live(node);
    const hash = (await scene.refund(id)).transactionHash;
    await scene.forget(id);
    await scene.request(id);
    await scene.live(node);
    const refund = await scene.refund(id);
    assert.deepEqual([refund.state, refund.transactionHash], ['refunded', hash]);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
  });

  it('go through Permit2 where the token has no authorizations', async () => {
    const { id, payer, item } = await scene.paid(node, { method: 'permit2', isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n, TETHER);
    await scene.request(id);
    await scene.live(node);
    assert.equal((await scene.refund(id)).state, 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, TETHER), item.amount);
    assert.deepEqual(await scene.differences(), []);
  });

  it('of coin are sent by the intermediate account itself, the fee from a float of coin', async () => {
    scene.control.setBalance(scene.intermediate, COIN, 10n ** 18n);
    const { id, pay, item, payer } = await scene.offerHeld();
    pay();
    await node.turn(2);
    const before = scene.control.balanceOf(payer.address, COIN);
    await scene.request(id);
    await scene.live(node, 2);
    assert.equal((await scene.refund(id)).state, 'awaiting_funds');
    const hash = scene.sendCoin(10n);
    const input = { owner: OPERATOR_FLOAT, asset: COIN, transactionHash: hash, actor: 'test' };
    assert.equal(await addFloat(scene, input), 10n);
    await assert.rejects(addFloat(scene, input), /before/);
    await scene.live(node);
    assert.equal((await scene.refund(id)).state, 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, COIN), before + item.amount);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that a deep reorganisation took away for good are sent again', async () => {
    const { id, payer, item } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.request(id);
    await scene.live(node, 1);
    assert.equal((await scene.refund(id)).state, 'refunded');
    const revenue = async () => {
      const [row] = await scene.db.sql<{ value: string }[]>`
        select sum(value)::text as value from payment_stat_changes where status = 'succeeded'`;
      return row?.value;
    };
    assert.equal(await revenue(), '0');
    // Its block is gone, and its hour is over before the next one comes.
    scene.control.reorg(1, { transactions: 'dropped', length: 2 });
    scene.pass(3_700_000);
    await scene.live(node, 2);
    assert.equal((await scene.refund(id)).state, 'sending');
    assert.equal(await revenue(), '100');
    scene.pass(61_000);
    await scene.live(node, 6);
    assert.equal((await scene.refund(id)).state, 'refunded');
    assert.equal(await revenue(), '0');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
    assert.deepEqual(await scene.history(id), [
      'requested requested',
      'covered sending',
      'paid refunded',
      'undone sending',
      'paid refunded',
    ]);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('stay valid when a reorg moves them, and are sent again when it drops them', async () => {
    const { id, payer, item } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.request(id);
    await scene.live(node);
    scene.control.reorg(3, { transactions: 'dropped', length: 4 });
    await node.watch();
    assert.equal((await scene.refund(id)).state, 'refunded');
    await scene.live(node, 8);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
    assert.deepEqual(await scene.alerts(), []);
  });
});
