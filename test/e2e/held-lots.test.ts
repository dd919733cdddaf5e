import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { recordEntries } from '../../src/actions/books/record.ts';
import { command } from '../../src/actions/command.ts';
import { addFloat } from '../../src/actions/outgoing/float/add-float.ts';
import { payOutHeld } from '../../src/actions/outgoing/payout/pay-out-held.ts';
import { coverRefunds } from '../../src/actions/outgoing/refund/cover-refunds.ts';
import { vetoRefund } from '../../src/actions/outgoing/refund/veto-refund.ts';
import { returnUnexpected } from '../../src/actions/outgoing/return/return-unexpected.ts';
import { ACCOUNTS, entry, OPERATOR_FLOAT } from '../../src/domain/books.ts';
import type { CrashPoint } from '../../src/runtime/crash-points.ts';
import { putLots, type StoredLot } from '../../src/store/money/lots.ts';
import { findPayoutsOf } from '../../src/store/money/outgoing.ts';
import { markPositionsOutdated, putPosition } from '../../src/store/money/positions.ts';
import { wakeRefunds } from '../../src/store/money/refunds.ts';
import { listUnexpected } from '../../src/store/money/unexpected-money.ts';
import { COIN, DOLLAR, openRefundScene, type RefundScene } from './refund-scene.ts';
import type { TestNode } from './relay-scene.ts';

const BASE_SEPOLIA = 'eip155:84532';

/** Money that is held for merchants lies in lots: one payment may have several, and each unit leaves once. */
describe('lots of held money', () => {
  let scene: RefundScene;
  let node: TestNode;
  let destination: string;
  beforeEach(async () => {
    scene = await openRefundScene();
    node = await scene.newNode();
    destination = scene.payers.newAccount();
  });
  afterEach(() => scene.close());

  const payoutsOf = async (id: string) =>
    (await findPayoutsOf(scene.db.sql, id, 10)).map(({ asset, amount, state }) => [asset, amount, state]).reverse();
  const settledEvents = async (id: string) =>
    (await scene.db.sql`select from events where object_id = ${id} and type = 'payment.settled'`).length;
  /** Makes the position of a payment the given one, as the watcher does after it has read the chain. */
  const place = (paymentId: string, lots: readonly StoredLot[]) =>
    command(scene, async (tx, at) => {
      await markPositionsOutdated(tx, [paymentId], at);
      await putLots(tx, { paymentId, merchantId: scene.merchantId }, lots, at);
      await putPosition(tx, { paymentId, booked: [] }, at);
      await wakeRefunds(tx, paymentId);
    });

  /** Books money that has come to the deposit address of a payment and was swept, as the watcher does. */
  const book = (id: string, units: bigint) =>
    command(scene, (tx, at) => {
      const about = { network: scene.network, asset: DOLLAR, reference: id, subject: id, merchantId: scene.merchantId };
      const lines = [
        { account: ACCOUNTS.payer, units: -units },
        { account: ACCOUNTS.payable(scene.merchantId), units },
      ];
      return recordEntries(tx, [entry('deposited', about, lines)], at);
    });

  it('in two tokens are never added: the one that paid is paid out, and the other goes back from its own lot', async () => {
    scene.control.setBalance(scene.intermediate, COIN, 10n ** 18n);
    const second = await scene.offerHeld();
    const { id } = second;
    await scene.accept({ isHeld: true, terms: { subject: id } });
    await scene.live(node, 2);
    second.pay();
    await scene.live(node, 3);
    const net = second.item.amount - second.item.fee;
    const lots = await scene.lots(id);
    assert.deepEqual(lots.map(({ asset, net: units, isPaying, reason }) => [asset, units, isPaying, reason]).sort(), [
      [DOLLAR, 990n, true, null],
      [COIN, net, false, 'paid_twice'],
    ]);
    await scene.register(destination);
    await scene.register(scene.payers.newAccount(), COIN);
    await scene.live(node);
    assert.deepEqual(await payoutsOf(id), [[DOLLAR, '990', 'paid']]);
    assert.deepEqual(await scene.differences(), []);

    const [late] = await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
    assert.deepEqual([late?.paymentId, late?.asset], [id, COIN]);
    assert.equal((await scene.books(COIN))[`intermediate/payable/${scene.merchantId}`], net);
    const transactionHash = scene.sendCoin(second.item.fee);
    scene.control.mine(1);
    await node.watch();
    await addFloat(scene, { owner: OPERATOR_FLOAT, asset: COIN, transactionHash, actor: 'test' });
    const before = scene.control.balanceOf(late?.sender ?? '', COIN);
    await returnUnexpected(scene, { id: late?.id ?? '', to: undefined, actor: 'test' });
    await scene.live(node);
    assert.equal(scene.control.balanceOf(late?.sender ?? '', COIN), before + second.item.amount);
    assert.equal((await scene.books(COIN))[`intermediate/payable/${scene.merchantId}`], undefined);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that come after a payout get a payout of their own, which settles nothing', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    await scene.live(node);
    assert.deepEqual(await payoutsOf(id), [[DOLLAR, '990', 'paid']]);
    assert.equal((await scene.settlement(id))?.amount, '990');
    const [paying] = await scene.lots(id);
    assert.ok(paying);
    const address = scene.payers.newAccount();
    const more = { ...paying, id: `${paying.id}/more`, address, isPaying: false, reason: 'overpaid' as const };
    await book(id, 2_000_000n);
    await place(id, [paying, { ...more, amount: 2_000_000n, fee: 0n, net: 2_000_000n }]);
    await payOutHeld(scene);
    assert.deepEqual(await payoutsOf(id), [
      [DOLLAR, '990', 'paid'],
      [DOLLAR, '2000000', 'sending'],
    ]);
    assert.equal((await scene.settlement(id))?.amount, '990');
    assert.equal(await settledEvents(id), 1);
    assert.equal(await payOutHeld(scene), false);
    assert.equal((await findPayoutsOf(scene.db.sql, id, 10)).length, 2, 'nothing is paid out twice');
  });

  it('of unexpected money below the minimum wait, and are found again when more has come', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    await scene.live(node);
    const [paying] = await scene.lots(id);
    assert.ok(paying);
    const dust = { ...paying, id: 'dust', address: scene.payers.newAccount(), isPaying: false, fee: 0n } as const;
    const small = { ...dust, reason: 'overpaid', amount: 400_000n, net: 400_000n } as const;
    await book(id, small.net);
    await place(id, [paying, small]);
    await payOutHeld(scene);
    assert.equal((await payoutsOf(id)).length, 1);
    const [held] = await scene.db.sql`select problem from lots where id = 'dust'`;
    assert.equal(held?.problem, 'below_minimum');
    await book(id, 700_000n);
    await place(id, [paying, small, { ...small, id: 'more', amount: 700_000n, net: 700_000n }]);
    await payOutHeld(scene);
    assert.deepEqual((await payoutsOf(id)).at(-1), [DOLLAR, '1100000', 'sending']);
  });

  it('are not paid out while the payment is open, its position is outdated, or its return is asked for', async () => {
    const { id } = await scene.accept({ isHeld: true });
    await scene.register(destination);
    await node.turn(2);
    await command(scene, (tx, at) => markPositionsOutdated(tx, [id], at));
    await payOutHeld(scene);
    assert.deepEqual(await payoutsOf(id), []);
    await command(scene, (tx, at) => putPosition(tx, { paymentId: id, booked: [] }, at));
    await scene.db.sql`update payments set status = 'processing' where id = ${id}`;
    await payOutHeld(scene);
    assert.deepEqual(await payoutsOf(id), []);
    await scene.db.sql`update payments set status = 'succeeded' where id = ${id}`;
    await payOutHeld(scene);
    assert.equal((await payoutsOf(id)).length, 1);
  });

  it('with a destination that the gateway did not write wait, and hold up no other, however many they are', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    const { id: last } = await scene.paid(node, { isHeld: true });
    await scene.register(destination);
    // More than one round looks at, all of them older, of a merchant whose destination a thief has written.
    await scene.db.sql`
      insert into merchants (id, partner_id, mode, name, status, created_at, updated_at)
      select 'mrch_thief', partner_id, mode, 'Thief', status, created_at, updated_at
      from merchants where id = ${scene.merchantId}`;
    await scene.db.sql`
      insert into payments select (jsonb_populate_record(p, jsonb_build_object(
        'id', 'pay_0' || lpad(n::text, 25, '0'), 'merchant_id', 'mrch_thief'))).*
      from payments p, generate_series(1, 600) n where p.id = ${id}`;
    await scene.db.sql`
      insert into lots select (jsonb_populate_record(l, jsonb_build_object(
        'id', l.id || n, 'payment_id', 'pay_0' || lpad(n::text, 25, '0'), 'merchant_id', 'mrch_thief'))).*
      from lots l, generate_series(1, 600) n where l.payment_id = ${id}`;
    await scene.db.sql`
      insert into crypto_settlements select (jsonb_populate_record(c, jsonb_build_object(
        'id', 'crypto_thief', 'merchant_id', 'mrch_thief'))).*
      from crypto_settlements c`;
    await scene.live(node);
    assert.equal((await scene.payout(id))?.state, 'paid');
    assert.equal((await scene.payout(last))?.state, 'paid');
    assert.deepEqual(await scene.alerts(), ['destination_refused crypto_thief']);
    assert.equal((await findPayoutsOf(scene.db.sql, `pay_0${'1'.padStart(25, '0')}`, 1)).length, 0);
  });

  it('that are still at their address make a refund wait, with the true cause, and pay it after the sweep', async () => {
    const { id, payer } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    const [paying] = await scene.lots(id);
    assert.ok(paying);
    await place(id, [{ ...paying, address: scene.payers.newAccount(), waiting: paying.amount, fee: 0n, net: 0n }]);
    await scene.request(id);
    await scene.payOut();
    const refund = await scene.refund(id);
    assert.deepEqual([refund.state, refund.waitsFor, refund.fromHeld], ['awaiting_funds', 'sweep', '0']);
    assert.match(refund.problem ?? '', /still at its deposit address/);
    assert.deepEqual(await scene.alerts(), [`refund_awaiting_funds ${refund.id}`]);
    const alert = (await scene.alertText('refund_awaiting_funds')) ?? '';
    assert.match(alert, /waits: the money is still at its deposit address/);
    assert.doesNotMatch(alert, /float/);

    await place(id, [paying]);
    await scene.live(node);
    assert.deepEqual([(await scene.refund(id)).state, (await scene.refund(id)).fromHeld], ['refunded', '990']);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
    assert.deepEqual(await scene.alerts(), []);
    assert.deepEqual(await scene.differences(), []);
  });

  it('of an outdated position make a refund wait for seconds, without an alert', async () => {
    const { id } = await scene.paid(node, { isHeld: true });
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    const [paying] = await scene.lots(id);
    assert.ok(paying);
    await command(scene, (tx, at) => markPositionsOutdated(tx, [id], at));
    await scene.request(id);
    await coverRefunds(scene);
    assert.equal((await scene.refund(id)).state, 'requested');
    assert.deepEqual(await scene.alerts(), []);
    await place(id, [paying]);
    await scene.live(node);
    assert.equal((await scene.refund(id)).state, 'refunded');
  });

  it('come back from vetoed refunds, whose numbers are used again when all twelve are gone', async () => {
    const { id, payer } = await scene.paid(node, { isHeld: true });
    const units = { unit: 'USD', value: 1n };
    const { amountUnit } = await scene.payment(id);
    for (let count = 0; count < 14; count += 1) {
      const { body } = await scene.request(id, { amount: { ...units, unit: amountUnit } });
      await vetoRefund(scene, { id: String(body), reason: 'test', actor: 'test' });
    }
    assert.equal((await scene.refunds(id)).length, 12);
    assert.equal((await scene.payout(id))?.amount, '990');
    await scene.fill(node, OPERATOR_FLOAT, 10n);
    await scene.request(id);
    await scene.live(node);
    assert.equal(scene.control.balanceOf(payer.address, DOLLAR), 1_000n);
    assert.deepEqual(await scene.differences(), []);
  });

  it('that are late stay named when a sweep of the payment is in the same block', async () => {
    scene.control.setBalance(scene.intermediate, COIN, 10n ** 18n);
    const { id, send } = await scene.deposit({ isHeld: true });
    const coin = await scene.offer(undefined, { isHeld: true, subject: id });
    send(1_000n);
    await node.turn(1);
    assert.equal(await scene.status(id), 'succeeded');
    coin.pay();
    await node.turn(1);
    const [sweep] = await scene.db.sql`select state from items where subject = ${id} and purpose = 'sweep'`;
    assert.deepEqual(sweep, { state: 'paid' }, 'the sweep and the second payment are in one block');
    await node.turn(3);
    const net = coin.item.amount - coin.item.fee;
    const lots = await scene.lots(id);
    assert.deepEqual(lots.map(({ asset, net: units, reason }) => [asset, units, reason]).sort(), [
      [DOLLAR, 990n, null],
      [COIN, net, 'paid_twice'],
    ]);
    const late = await listUnexpected(scene.db.sql, { states: ['unclaimed'], limit: 10 });
    assert.deepEqual(
      late.map(({ paymentId, asset, amount }) => [paymentId, asset, amount]),
      [[id, COIN, `${coin.item.amount}`]],
    );
    assert.deepEqual(await scene.differences(), []);
  });

  it('stay when another network computes the position after the node has died', async () => {
    const other = await openRefundScene({ beside: { ...scene, network: BASE_SEPOLIA } });
    const second = await other.newNode();
    await second.turn(1);
    const { id, send } = await scene.deposit({ isHeld: true });
    send(100n);
    await node.turn(2);
    await scene.accept({ isHeld: true, terms: { subject: id } });
    const world = scene.world as { crashPoint?: (reached: CrashPoint) => void };
    let hasDied = false;
    world.crashPoint = (reached) => {
      hasDied ||= reached === 'watch.settled';
      if (hasDied) throw new Error('died');
    };
    await node.turn(2).catch(() => {});
    delete world.crashPoint;
    assert.deepEqual([hasDied, await scene.status(id)], [true, 'succeeded']);
    await second.turn(1);
    const paying = async () => (await scene.lots(id)).flatMap(({ net, isPaying }) => (isPaying ? [net] : []));
    assert.deepEqual(await paying(), [990n]);
    await (await scene.newNode()).turn(2);
    assert.deepEqual(await paying(), [990n]);
    await other.close();
  });
});
