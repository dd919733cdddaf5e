import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { command } from '../../src/actions/command.ts';
import { returnFloat } from '../../src/actions/outgoing/float/return-float.ts';
import { returnUnexpected } from '../../src/actions/outgoing/return/return-unexpected.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

describe('till rebuild, of outgoing transfers', () => {
  let scene: RefundScene;
  let node: TestNode;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    await scene.live(node, 1);
  });
  afterEach(() => scene.close());

  /** Drops rows behind the gateway's back, past every guard. */
  const lose = (...statements: readonly string[]) =>
    command(scene, async (tx) => {
      await tx.unsafe('set local session_replication_role = replica');
      for (const statement of statements) await tx.unsafe(statement);
    });
  const outgoingRows = (id: string) => [
    `delete from relay_items where commitment in (select commitment from items where subject = '${id}')`,
    `delete from chain_events where commitment in (select commitment from items where subject = '${id}')`,
    `delete from items where subject = '${id}'`,
    `delete from outgoing where id = '${id}'`,
  ];
  const refundRows = (id: string) => [
    ...outgoingRows(id),
    `delete from events where object_id = '${id}'`,
    `delete from refunds where id = '${id}'`,
  ];
  const entryRows = (id: string) => `delete from book_entries where reference = '${id}'`;
  const restore = async (input: { merchantId?: string; floatOwner?: string } = {}) => {
    const report = await rebuild(scene, scene.connected, { from: 0, ...input });
    return { rebuilt: report?.rebuilt, unplaced: report?.unplaced.map(({ problem }) => problem) };
  };
  const nothing = { rebuilt: [], unplaced: [] };

  /** A refund that was paid from what was held, the fee from the operator's float. */
  async function refunded() {
    const payment = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 25n);
    await scene.request(payment.id);
    await scene.live(node);
    assert.equal((await scene.refund(payment.id)).state, 'refunded');
    assert.deepEqual(await restore(), nothing);
    return { ...payment, refundId: refundIdOf(payment.id, 1) };
  }

  it('names a refund that was lost with its entries, makes it again, and never sends it again', async () => {
    const { id, refundId, payer, item } = await refunded();
    const [before, books] = [await scene.refund(id), await scene.books()];
    await lose(...refundRows(refundId), entryRows(refundId), `delete from lot_spends where payment_id = '${id}'`);
    assert.ok((await scene.differences())?.includes(`${refundId} left on chain, and nothing is known of it.`));
    assert.deepEqual(await restore(), { rebuilt: [refundId], unplaced: [] });
    const { version: _, requestedAt: __, updatedAt: ___, ...same } = before;
    assert.partialDeepStrictEqual(await scene.refund(id), same);
    assert.equal((await scene.payout(id))?.state, 'refunded');
    assert.deepEqual(await scene.books(), books);
    assert.deepEqual(await scene.floats(), { operator: '15' });
    assert.deepEqual(await scene.differences(), []);
    await assert.rejects(scene.request(id), { code: 'already_refunded' });
    await scene.live(node);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
    assert.deepEqual(await restore(), nothing);
  });

  it('takes the cover of a lost refund from its floats, or says which has too little', async () => {
    const { refundId } = await refunded();
    await lose(
      ...refundRows(refundId),
      entryRows(refundId),
      `delete from float_changes where subject = '${refundId}'`,
      `update floats set units = 3`,
    );
    const { rebuilt, unplaced } = await restore();
    assert.deepEqual(rebuilt, []);
    assert.match(unplaced?.[0] ?? '', /the operator's float lacks 0\.000007 USDC/);
    await lose(`update floats set units = 25`);
    assert.deepEqual((await restore()).rebuilt, [refundId]);
    assert.deepEqual(await scene.floats(), { operator: '15' });
    assert.deepEqual(await scene.differences(), []);
  });

  it('ends a requested refund whose send was lost', async () => {
    const { id, refundId, payer, item } = await refunded();
    await scene.forget(id);
    await lose(entryRows(refundId), `delete from float_changes where subject = '${refundId}'`);
    await lose(`update floats set units = 25`);
    await scene.request(id);
    assert.equal((await scene.refund(id)).state, 'requested');
    assert.deepEqual((await restore()).rebuilt, [refundId]);
    assert.deepEqual(await scene.history(id), ['requested requested', 'covered sending', 'paid refunded']);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), item.amount);
    assert.deepEqual(await scene.differences(), []);
  });

  it('makes a payment and its payout again, which is shown as settled', async () => {
    const { id, commitment } = await scene.paid(node, { isHeld: true });
    const destination = scene.payers.newAccount();
    await scene.register(destination);
    await scene.live(node);
    const payoutId = await scene.payoutIdOf(id);
    const [settlement, books] = [await scene.settlement(id), await scene.books()];
    await lose(
      ...outgoingRows(payoutId),
      ...outgoingRows(id),
      entryRows(payoutId),
      entryRows(commitment),
      ...['payment_settlements', 'lot_spends', 'lots'].map(
        (table) => `delete from ${table} where payment_id = '${id}'`,
      ),
      `delete from events where object_id = '${id}'`,
      `delete from payments where id = '${id}'`,
    );
    const first = await restore();
    assert.deepEqual(first.rebuilt, []);
    assert.match(first.unplaced?.[1] ?? '', /was paid out, and nothing is held of its payment/);
    assert.deepEqual(await restore({ merchantId: scene.merchantId }), { rebuilt: [id, payoutId], unplaced: [] });
    const { at: _, ...same } = settlement ?? assert.fail('The payout was not settled.');
    assert.partialDeepStrictEqual(await scene.settlement(id), same);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.deepEqual(await scene.books(), books);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(destination, DOLLAR), 990n);
    assert.deepEqual(await scene.differences(), []);
    assert.deepEqual(await restore(), nothing);
  });

  it('makes entries of a payout again when only they were lost', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(scene.payers.newAccount());
    await scene.live(node);
    const payoutId = await scene.payoutIdOf(id);
    const books = await scene.books();
    await lose(`delete from book_entries where reference = '${payoutId}' and kind = 'payout_done'`);
    const settled = `settled/${scene.merchantId}`;
    assert.ok(
      (await scene.differences())?.includes(
        `${payoutId} is in the books with 0.00 USDC on ${settled} instead of 0.00099 USDC.`,
      ),
    );
    assert.deepEqual((await restore()).rebuilt, [payoutId]);
    assert.deepEqual(await scene.books(), books);
    assert.deepEqual(await scene.differences(), []);
  });

  it('restores unexpected money and its returns', async () => {
    const sender = scene.payers.newAccount();
    scene.transfer({ from: sender, units: 77n });
    await scene.live(node, 2);
    const unexpectedMoney = () =>
      listUnexpected(scene.db.sql, { states: ['unclaimed', 'float', 'returned'], limit: 5 });
    const [{ id } = assert.fail('The money was not found.')] = await unexpectedMoney();
    await returnUnexpected(scene, { id, to: undefined, actor: 'test' });
    await scene.live(node);
    await lose(...outgoingRows(id), entryRows(id), `delete from strays where id = '${id}'`);
    assert.deepEqual((await restore()).rebuilt, [id]);
    assert.deepEqual(
      (await unexpectedMoney()).map(({ state, amount }) => [state, amount]),
      [['returned', '77']],
    );
    await scene.live(node);
    assert.equal(scene.control.balanceOf(sender, DOLLAR), 77n);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
    assert.deepEqual(await restore(), nothing);
  });

  it('does not take a float for unexpected money when only its row was lost', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    const books = await scene.books();
    await lose(`delete from strays`);
    await restore();
    const [unexpected] = await listUnexpected(scene.db.sql, { states: ['unclaimed', 'float'], limit: 5 });
    assert.deepEqual([unexpected?.state, await scene.books()], ['float', books]);
    assert.deepEqual(await scene.alerts(), []);
  });

  it('asks for the owner of a returned float that no row shows', async () => {
    await scene.fill(node, OPERATOR_FLOAT, 100n);
    const recipient = scene.payers.newAccount();
    const id = await returnFloat(scene, { owner: OPERATOR_FLOAT, asset: DOLLAR, units: 60n, recipient, actor: 'test' });
    await scene.live(node);
    const books = await scene.books();
    await lose(...outgoingRows(id), entryRows(id), `delete from float_changes where subject = '${id}'`);
    await lose(`update floats set units = 100`);
    assert.match((await restore()).unplaced?.[0] ?? '', /float of unknown owner/);
    assert.deepEqual((await restore({ floatOwner: OPERATOR_FLOAT })).rebuilt, [id]);
    assert.deepEqual(await scene.floats(), { operator: '40' });
    assert.deepEqual(await scene.books(), books);
    assert.deepEqual(await scene.differences(), []);
  });

  it('ignores balances from before the gateway first saw the chain', async () => {
    const fresh = await openRefundScene();
    fresh.transfer({ from: fresh.payers.newAccount(), units: 77n });
    // The first reading begins some blocks below the head.
    fresh.control.mine(40);
    await fresh.live(await fresh.newNode(), 2);
    const differences = await fresh.differences();
    const report = await rebuild(fresh, fresh.connected, { from: 0 });
    assert.deepEqual(report?.rebuilt, []);
    assert.deepEqual(await fresh.differences(), differences);
    await fresh.close();
  });
});
