import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { reconcile } from '../../src/actions/books/audit/reconcile.ts';
import { rebuild } from '../../src/actions/books/restore/rebuild.ts';
import { command } from '../../src/actions/command.ts';
import { returnFloat } from '../../src/actions/outgoing/float/return-float.ts';
import { coverRefunds } from '../../src/actions/outgoing/refund/cover-refunds.ts';
import { acceptSignature } from '../../src/actions/outgoing/refund/signed/accept-signature.ts';
import { offerRefund } from '../../src/actions/outgoing/refund/signed/offer-refund.ts';
import { returnFees } from '../../src/actions/outgoing/refund/signed/return-fees.ts';
import { vetoRefund } from '../../src/actions/outgoing/refund/veto-refund.ts';
import { freeze, unfreeze } from '../../src/actions/parties/freeze.ts';
import { tokenUnitId } from '../../src/chains/units.ts';
import { OPERATOR_FLOAT } from '../../src/domain/books.ts';
import { parseAccount } from '../../src/domain/caip.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import { waitOf } from '../../src/domain/refund.ts';
import { itemOf } from '../../src/store/chain/items.ts';
import { findFeesToReturn } from '../../src/store/money/outgoing.ts';
import { findShownRefunds } from '../../src/store/money/refunds.ts';
import { listAlerts } from '../../src/store/plumbing/alerts.ts';
import type { Payer } from '../chains/harness.ts';
import { signerFromKey } from '../chains/signer.ts';
import { bookkeepingOf } from './bookkeeping-lines.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene, TETHER } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

/** The life of a request to sign, and some more. */
const RUN_OUT_MS = 21 * 60_000;

describe('a refund that the merchant signs for', () => {
  let scene: RefundScene;
  let node: TestNode;
  /** The holder of the account that receives the payments. */
  let merchant: Payer;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    merchant = scene.payers.newPayer();
    scene.control.setAllowance(merchant.address, TETHER, 2n ** 256n - 1n);
  });
  afterEach(() => scene.close());

  /** A settled payment of 1,000 units, whose refund waits for funds. The account has got 990, and has some more. */
  async function waiting({
    method = 'eip3009-vrs' as 'eip3009-vrs' | 'permit2',
    value = undefined as bigint | undefined,
  } = {}) {
    const paid = await scene.paid(node, { method, terms: { recipient: merchant.address } });
    const asset = method === 'permit2' ? TETHER : DOLLAR;
    scene.control.setBalance(merchant.address, asset, 5_000n);
    await scene.request(paid.id, value === undefined ? {} : { amount: { unit: tokenUnitId(asset), value } });
    await scene.live(node, 1);
    const refundId = refundIdOf(paid.id, 1);
    assert.equal((await scene.refund(paid.id)).state, 'awaiting_funds');
    return { ...paid, refundId, asset };
  }
  async function signed(refundId: string, by: Payer = merchant): Promise<string> {
    const { requests } = await offerRefund(scene, refundId);
    return by.signTypedData(JSON.parse(String(requests.at(-1)?.params[1])));
  }
  const accept = (refundId: string, result: string) => acceptSignature(scene, { refundId, result, actor: 'app:test' });
  const waits = async (paymentId: string) =>
    (await findShownRefunds(scene.db.sql, { paymentId, now: new Date(scene.nowMs()) })).map(waitOf);
  const state = async (paymentId: string) => (await scene.refund(paymentId)).state;
  const restore = async () => {
    const report = await rebuild(scene, scene.connected, { from: 0 });
    return { rebuilt: report?.rebuilt, unplaced: report?.unplaced };
  };
  /** Everything is as the chain shows it, and no float was touched. */
  async function assertBooked(): Promise<void> {
    assert.deepEqual(await scene.differences(), []);
    assert.deepEqual(await restore(), { rebuilt: [], unplaced: [] });
    assert.deepEqual(await scene.alerts(), []);
  }

  for (const method of ['eip3009-vrs', 'permit2'] as const) {
    it(`is paid by its signature alone: ${method}`, async () => {
      const { id, payer, refundId, asset } = await waiting({ method });
      assert.deepEqual(await waits(id), [{ what: 'merchant_signature', units: '1000' }]);
      const after = await accept(refundId, await signed(refundId));
      assert.deepEqual([after.state, waitOf(after)?.what], ['sending', 'network']);
      assert.equal((await accept(refundId, await merchant.signMessage({ message: 'again' }))).state, 'sending');
      await scene.live(node, 2);
      assert.equal(await state(id), 'refunded');
      assert.equal(scene.control.balanceOf(payer.address, asset), 1_000n);
      assert.equal(scene.control.balanceOf(merchant.address, asset), 4_000n);
      assert.deepEqual(await scene.floats(), {});
      const books = await scene.books(asset);
      assert.deepEqual([books.payer ?? 0n, books[`settled/${scene.merchantId}`], books.fees], [0n, -10n, 10n]);
      assert.deepEqual(await scene.history(id), [
        'requested requested',
        'short awaiting_funds',
        'covered sending',
        'paid refunded',
      ]);
      await assertBooked();
    });
  }

  it('is paid in coin by a transaction of the account, seen before it is final', async () => {
    const offered = await scene.offer();
    offered.pay();
    await node.turn(2);
    const { id, item, payer } = offered;
    scene.control.setBalance(item.recipient, COIN, 10n ** 19n);
    await scene.request(id);
    await scene.live(node, 1);
    const refundId = refundIdOf(id, 1);
    const { requests } = await offerRefund(scene, refundId);
    const before = scene.control.balanceOf(payer.address, COIN);
    assert.equal((await accept(refundId, `0x${'1'.repeat(64)}`)).state, 'awaiting_funds');
    const [request] = requests;
    assert.ok(request);
    const hash = scene.control.send(request);
    assert.equal((await accept(refundId, hash)).state, 'sending');
    await scene.live(node, 2);
    assert.equal(await state(id), 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, COIN), before + item.amount);
    await assertBooked();
  });

  it('is offered once, however many ask, and never covered by floats meanwhile', async () => {
    const { id, payer, refundId } = await waiting();
    const offers = await Promise.all(Array.from({ length: 6 }, () => offerRefund(scene, refundId)));
    assert.equal(new Set(offers.map((offer) => JSON.stringify(offer))).size, 1);
    await scene.fill(node, scene.merchantId, 990n);
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.live(node, 2);
    assert.equal((await scene.itemsOf(refundId)).length, 1);
    assert.deepEqual(await waits(id), [{ what: 'merchant_signature', units: '1000' }]);
    assert.deepEqual(await scene.floats(), { [scene.merchantId]: '990', operator: '10' });
    const late = await signed(refundId);
    scene.pass(RUN_OUT_MS);
    await scene.live(node, 4);
    assert.equal(await state(id), 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
    assert.equal(scene.control.balanceOf(merchant.address, DOLLAR), 5_000n);
    assert.deepEqual(await scene.floats(), { [scene.merchantId]: '0', operator: '0' });
    assert.equal((await accept(refundId, late)).state, 'refunded');
    await assert.rejects(offerRefund(scene, refundId), /has arrived/);
    await assertBooked();
  });

  it('is either offered or covered when both are tried at once', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { refundId } = await waiting();
      await scene.fill(node, scene.merchantId, 990n);
      await scene.fill(node, OPERATOR_FLOAT, 10n);
      await Promise.allSettled([coverRefunds(scene), offerRefund(scene, refundId), coverRefunds(scene)]);
      const { signer } = (await scene.outgoing(refundId)) ?? {};
      const taken = await scene.db.sql`select from float_changes where subject = ${refundId}`;
      assert.equal(taken.length > 0, signer === 'gateway');
      if (signer === 'merchant') await accept(refundId, await signed(refundId));
      await scene.live(node);
    }
    await assertBooked();
  });

  it('takes no signature of another account, of other terms, or of nobody', async () => {
    const { id, refundId } = await waiting();
    const stranger = scene.payers.newPayer();
    scene.control.setBalance(stranger.address, DOLLAR, 5_000n);
    await assert.rejects(accept(refundId, await merchant.signMessage({ message: 'x' })), /ask for the request again/);
    for (const wrong of [
      await signed(refundId, stranger),
      await merchant.signMessage({ message: 'x' }),
      `0x${'00'.repeat(65)}`,
    ]) {
      await assert.rejects(accept(refundId, wrong), { code: 'params_validation', status: 422 });
    }
    await scene.live(node, 2);
    assert.equal(await state(id), 'awaiting_funds');
    assert.equal((await accept(refundId, await signed(refundId))).state, 'sending');
  });

  it('waits while the account was emptied, and can be signed again when the signature has run out', async () => {
    const { id, payer, refundId } = await waiting();
    const first = await signed(refundId);
    await accept(refundId, first);
    scene.control.setBalance(merchant.address, DOLLAR, 0n);
    await scene.live(node, 3);
    assert.equal(await state(id), 'sending');
    scene.pass(RUN_OUT_MS);
    await scene.live(node, 2);
    assert.equal(await state(id), 'awaiting_funds');
    assert.match(
      (await scene.alertText('refund_awaiting_funds')) ?? '',
      /was not carried out in time \(short_balance\)/,
    );
    await assert.rejects(offerRefund(scene, refundId), /insufficient funds/);
    scene.control.setBalance(merchant.address, DOLLAR, 1_000n);
    await assert.rejects(accept(refundId, first), /ask for the request again/);
    await accept(refundId, await signed(refundId));
    await scene.live(node, 2);
    assert.equal(await state(id), 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
    assert.deepEqual((await scene.history(id)).slice(2), [
      'covered sending',
      'lapsed awaiting_funds',
      'covered sending',
      'paid refunded',
    ]);
    await assertBooked();
  });

  it('counts when the account has it carried out without returning the signature', async () => {
    const { id, payer, refundId } = await waiting();
    const signature = await signed(refundId);
    const [stored] = await scene.itemsOf(refundId);
    assert.ok(stored);
    const relayer = signerFromKey(`0x${'8'.repeat(64)}`);
    scene.control.setBalance(relayer.address, COIN, 10n ** 20n);
    const { chain } = scene;
    const batch = [{ item: itemOf(stored), commitment: stored.commitment, signature, hasCode: false }];
    const bid = { slot: await chain.sender.usedSlots(relayer.address), offer: await chain.sender.suggestOffer() };
    await chain.sender.broadcast((await chain.sender.signBatch(relayer, batch, bid)).bytes);
    await node.turn(2);
    assert.equal(await state(id), 'refunded');
    assert.equal((await accept(refundId, signature)).state, 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
    await assertBooked();
  });

  it('is neither offered nor sent while it is frozen, and not before it has cooled off', async () => {
    const { id, refundId } = await waiting({ value: 500n });
    const all = { scope: 'refunds', subject: '', reason: 'test', actor: 'test' } as const;
    const signature = await signed(refundId);
    await freeze(scene, all);
    await assert.rejects(accept(refundId, signature), /cannot be paid now/);
    await unfreeze(scene, all);
    await accept(refundId, signature);
    await freeze(scene, all);
    await scene.live(node, 2);
    assert.equal(await state(id), 'sending');
    await unfreeze(scene, all);
    await scene.live(node, 2);
    assert.equal(await state(id), 'refunded');
    const friend = parseAccount(`${scene.network}:${scene.payers.newAccount()}`);
    assert.ok(friend.ok);
    await scene.request(id, { destination: friend.value, coolingOffMs: 3_600_000 });
    await scene.live(node, 1);
    await assert.rejects(offerRefund(scene, refundIdOf(id, 2)), /requested|cools off/);
    scene.pass(3_600_001);
    await scene.live(node, 1);
    await accept(refundIdOf(id, 2), await signed(refundIdOf(id, 2)));
    await scene.live(node, 2);
    assert.equal(scene.control.balanceOf(friend.value.address, DOLLAR), 500n);
    await assertBooked();
  });

  it('gives the fee back from the operator’s float, once, if the operator wants that', async () => {
    const { id, payer, refundId } = await waiting();
    const { requests } = await offerRefund({ ...scene, config: { signedRefundFees: 'return' } }, refundId);
    await accept(refundId, await merchant.signTypedData(JSON.parse(String(requests.at(-1)?.params[1]))));
    await returnFees(scene);
    await scene.live(node, 2);
    assert.equal(await state(id), 'refunded');
    await returnFees(scene);
    // The operator's float has nothing yet.
    assert.deepEqual(await scene.floats(), {});
    await scene.fill(node, OPERATOR_FLOAT, 25n);
    await Promise.all([returnFees(scene), returnFees(scene)]);
    await returnFees(scene);
    assert.deepEqual(await scene.floats(), { [scene.merchantId]: '10', operator: '15' });
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
    const books = await scene.books();
    assert.deepEqual(
      [books[`intermediate/float/${scene.merchantId}`], books['intermediate/float/operator']],
      [10n, 15n],
    );
    assert.deepEqual((await bookkeepingOf(scene, id)).slice(3), [
      'refund -0.001000 -1.00 USD',
      'fee_return 0.000010 0.01 USD',
      'float -0.000010 -0.01 USD',
      'settlement 0.001000 1.00 USD',
    ]);
    await assertBooked();
  });

  it('takes the fee back if a deep reorg takes the refund for good', async () => {
    const { id, refundId } = await waiting();
    const { requests } = await offerRefund({ ...scene, config: { signedRefundFees: 'return' } }, refundId);
    await accept(refundId, await merchant.signTypedData(JSON.parse(String(requests.at(-1)?.params[1]))));
    await scene.fill(node, OPERATOR_FLOAT, 25n);
    await scene.live(node, 2);
    await returnFees(scene);
    assert.deepEqual(await scene.floats(), { [scene.merchantId]: '10', operator: '15' });
    const [item] = await scene.itemsOf(refundId);
    scene.control.reorg(item === undefined ? 0 : 4, { transactions: 'dropped', length: 5 });
    scene.pass(RUN_OUT_MS);
    await scene.live(node, 3);
    assert.equal(await state(id), 'awaiting_funds');
    assert.deepEqual(await scene.floats(), { [scene.merchantId]: '0', operator: '25' });
  });

  it('reports the part of a fee that the merchant has used when a deep reorg takes the refund for good', async () => {
    const { refundId } = await waiting();
    const { requests } = await offerRefund({ ...scene, config: { signedRefundFees: 'return' } }, refundId);
    await accept(refundId, await merchant.signTypedData(JSON.parse(String(requests.at(-1)?.params[1]))));
    await scene.fill(node, OPERATOR_FLOAT, 25n);
    await scene.live(node, 2);
    await returnFees(scene);
    const recipient = scene.payers.newAccount();
    await returnFloat(scene, { owner: scene.merchantId, asset: DOLLAR, units: 6n, recipient, actor: 'test' });
    scene.control.reorg(4, { transactions: 'dropped', length: 5 });
    scene.pass(RUN_OUT_MS);
    await scene.live(node, 3);
    assert.deepEqual(await scene.floats(), { [scene.merchantId]: '0', operator: '19' });
    const alerts = await listAlerts(scene.db.sql);
    const alert = alerts.find(({ name, subject }) => name === 'deep_reorg' && subject === `${refundId}/fee`);
    assert.match(alert?.message ?? '', /has used 0\.000006 USDC of the fee/);
  });

  it('gives the fee of another refund back although the books refuse one', async () => {
    const refunds = [await waiting(), await waiting()];
    for (const { refundId } of refunds) {
      const { requests } = await offerRefund({ ...scene, config: { signedRefundFees: 'return' } }, refundId);
      await accept(refundId, await merchant.signTypedData(JSON.parse(String(requests.at(-1)?.params[1]))));
    }
    await scene.live(node, 2);
    await scene.fill(node, OPERATOR_FLOAT, 25n);
    // Rows that say more than the books.
    const [refused, other] = refunds.map(({ refundId }) => refundId);
    await command(scene, async (tx) => {
      await tx`update outgoing set fee_return = 1000 where id = ${refused ?? ''}`;
      await tx`update floats set units = 2000 where owner = 'operator'`;
    });
    await returnFees(scene);
    const open = await scene.db.sql`select id from outgoing where fee_return > 0 order by id`;
    assert.deepEqual(open, [{ id: refused }], `the fee of ${other} is returned`);
    assert.ok((await scene.alerts()).includes(`outgoing_refused ${refused}/fee`));
  });

  it('lets no fee wait at the head of the queue while the merchant’s float is on another account', async () => {
    const { refundId } = await waiting();
    const { requests } = await offerRefund({ ...scene, config: { signedRefundFees: 'return' } }, refundId);
    await accept(refundId, await merchant.signTypedData(JSON.parse(String(requests.at(-1)?.params[1]))));
    await scene.live(node, 2);
    await scene.fill(node, OPERATOR_FLOAT, 25n);
    await scene.fill(node, scene.merchantId, 5n);
    const move = (account: string) =>
      command(scene, (tx) => tx`update floats set account = ${account} where owner = ${scene.merchantId}`);
    const former = scene.payers.newAccount();
    await move(former);
    await returnFees(scene);
    assert.deepEqual(await scene.floats(), { [scene.merchantId]: '5', operator: '25' });
    const queue = () => findFeesToReturn(scene.db.sql, { now: new Date(scene.nowMs()), limit: 1 });
    assert.deepEqual(await queue(), []);
    assert.match((await scene.alertText('outgoing_refused')) ?? '', new RegExp(`is on the account ${former}`));
    await move(scene.intermediate);
    scene.pass(60_000);
    await returnFees(scene);
    assert.deepEqual(await scene.floats(), { [scene.merchantId]: '15', operator: '15' });
    await assertBooked();
  });

  it('is vetoed only when nobody can have it carried out any more', async () => {
    const { id, refundId } = await waiting();
    await offerRefund(scene, refundId);
    const veto = () => vetoRefund(scene, { id: refundId, reason: 'test', actor: 'operator' });
    await assert.rejects(veto(), /can have that carried out until/);
    scene.pass(RUN_OUT_MS);
    await scene.live(node, 2);
    await veto();
    assert.equal(await state(id), 'failed');
    await assert.rejects(offerRefund(scene, refundId), /has ended/);
    await assertBooked();
  });

  it('is not offered if its row was changed, if money is held for it, or to an account that cannot pay', async () => {
    const { refundId } = await waiting();
    scene.control.setBlacklisted(merchant.address, DOLLAR);
    await assert.rejects(offerRefund(scene, refundId), /refuses transfers of this account/);
    scene.control.setBlacklisted(merchant.address, DOLLAR, false);
    const thief = scene.payers.newAccount();
    await command(scene, (tx) => tx`update refunds set recipient = ${thief} where id = ${refundId}`);
    // A node that lacks the newest master secret cannot judge rows, and reports none.
    await scene.rotateElsewhere();
    await assert.rejects(offerRefund(scene, refundId), /checked by the operator/);
    assert.ok(!(await scene.alerts()).includes(`outgoing_refused ${refundId}`));
    await command(scene, (tx) => tx`delete from receipt_keys`);
    await assert.rejects(offerRefund(scene, refundId), /checked by the operator/);
    assert.deepEqual(await scene.itemsOf(refundId), []);
    assert.ok((await scene.alerts()).includes(`outgoing_refused ${refundId}`));
    const held = await scene.paid(node, { isHeld: true });
    await scene.request(held.id);
    await scene.live(node, 1);
    assert.deepEqual(await waits(held.id), [{ what: 'float', units: '10' }]);
    await assert.rejects(offerRefund(scene, refundIdOf(held.id, 1)), /not on an account of the merchant/);
  });

  it('is sent again after a deep reorg, and signed again if it ran out meanwhile', async () => {
    const { id, payer, refundId } = await waiting();
    await accept(refundId, await signed(refundId));
    await scene.live(node, 2);
    assert.equal(await state(id), 'refunded');
    scene.control.reorg(2, { transactions: 'dropped', length: 3 });
    await scene.live(node, 4);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
    assert.equal(await state(id), 'refunded');
    scene.control.reorg(4, { transactions: 'dropped', length: 5 });
    scene.pass(RUN_OUT_MS);
    await scene.live(node, 3);
    assert.equal(await state(id), 'awaiting_funds');
    await accept(refundId, await signed(refundId));
    await scene.live(node, 3);
    assert.equal(await state(id), 'refunded');
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
    const report = await reconcile(scene, scene.connected, { from: 0 });
    assert.deepEqual(report?.differences, []);
  });

  describe('after a restore from an older backup', () => {
    async function forgotten() {
      const paid = await waiting({ value: 400n });
      await accept(paid.refundId, await signed(paid.refundId));
      await scene.live(node, 2);
      assert.equal(await state(paid.id), 'refunded');
      await scene.forget(paid.id);
      return paid;
    }

    it('is made again from the chain', async () => {
      const { id, refundId } = await forgotten();
      assert.deepEqual(await restore(), { rebuilt: [refundId], unplaced: [] });
      assert.deepEqual([await state(id), (await scene.refund(id)).amount], ['refunded', '400']);
      assert.equal((await scene.outgoing(refundId))?.signer, 'merchant');
      await assertBooked();
    });

    it('is not paid a second time, by floats or by the merchant, when it is requested again', async () => {
      const { id, payer, refundId } = await forgotten();
      await scene.fill(node, scene.merchantId, 990n);
      await scene.fill(node, OPERATOR_FLOAT, 10n);
      await scene.request(id);
      await scene.live(node, 3);
      assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 400n);
      assert.match((await scene.alertText('forgotten_outgoing')) ?? '', /has paid 0\.0004 USDC.*Run till rebuild/);
      assert.deepEqual((await restore()).rebuilt, [refundId]);
      assert.deepEqual([await state(id), (await scene.refund(id)).amount], ['refunded', '400']);
      await scene.request(id);
      await scene.live(node);
      assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
      await assertBooked();
    });

    it('ignores a transfer with its id that does not go to the payer', async () => {
      const { id, refundId, item } = await waiting();
      const { chain } = scene;
      const signedItem = await scene.payers.signItem(merchant, {
        ...item,
        subject: refundId,
        payer: merchant.address,
        recipient: scene.payers.newAccount(),
        fee: 0n,
      });
      const relayer = signerFromKey(`0x${'8'.repeat(64)}`);
      scene.control.setBalance(relayer.address, COIN, 10n ** 20n);
      const bid = { slot: await chain.sender.usedSlots(relayer.address), offer: await chain.sender.suggestOffer() };
      await chain.sender.broadcast((await chain.sender.signBatch(relayer, [signedItem], bid)).bytes);
      await node.turn(2);
      assert.deepEqual(await restore(), { rebuilt: [], unplaced: [] });
      await accept(refundId, await signed(refundId));
      await scene.live(node, 2);
      assert.equal(await state(id), 'refunded');
      await assertBooked();
    });
  });
});
